"""Forwarding tables against those of a real subnet manager: OpenSM routes our fabrics, simulated by ibsim."""
import os
import shutil
import subprocess
import time

import fab

TREES = {
    "4x4": "kind = leaf_spine\nhosts = 16\nleaf_radix = 8\nspine_radix = 4",
    "8x4, 2:1": "kind = leaf_spine\nhosts = 64\nleaf_radix = 12\nspine_radix = 8\nspines = 4\nleaves = 8",
    "16x8, two links a pair": "kind = leaf_spine\nhosts = 256\nleaf_radix = 32\nspine_radix = 32\nleaves = 16\nspines = 8\nparallel_links = 2",
    "three tiers, 128 hosts": "kind = fat_tree\nk = 8",
}


def topo(context, action, scenario, *sets):
    command = [context.binary, "topo", action, scenario]
    for setting in sets:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    fab.expect(done.returncode == 0, f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def opensm(context, net, engine, name):
    """Folder with what OpenSM wrote about the ibsim net file NET."""
    folder = os.path.join(context.scratch, f"{name}_{engine}")
    os.makedirs(folder)
    path = os.path.join(folder, "net.txt")
    with open(path, "w", encoding="utf-8") as out:
        out.write(net)
    env = dict(os.environ, OSM_TMP_DIR=folder, OSM_CACHE_DIR=folder, IBSIM_SOCKNAME=f"fabricast{os.getpid()}")
    simulator = subprocess.Popen(["ibsim", "-s", "-n", "-N", "4096", "-S", "1024", "-P", "40000", path], env=env, cwd=folder,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(1)
        subprocess.run(["ibsim-run", "opensm", "-o", "-R", engine, "-D", "0x43", "-f", os.path.join(folder, "osm.log")], env=env, cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)
    finally:
        simulator.terminate()
        simulator.wait()
    dump = os.path.join(folder, "opensm-lfts.dump")
    fab.expect(os.path.exists(dump), f"{name}: OpenSM {engine} wrote no tables into {folder}")
    return dump


def nic_rows(text):
    return [line for line in text.splitlines() if line.startswith("Unicast") or "# Channel Adapter" in line]


def compare(context, name, engine):
    scenario = context.scratch_file("tree.ini", f"[topology]\nlink_layer = infiniband\n{TREES[name]}\n[workload]\nkind = none\n")
    dump = opensm(context, topo(context, "ibsim", scenario), engine, name.replace(" ", "_").replace(",", "").replace(":", ""))
    ours, theirs = f"routing.engine={engine}", ("routing.engine=file", f"routing.lft_file={dump}")
    a, b = topo(context, "check", scenario, ours), topo(context, "check", scenario, *theirs)
    fab.expect(a == b, f"{name} {engine}: judged differently\n{a}\n{b}")
    rows, other = nic_rows(topo(context, "lft", scenario, ours)), nic_rows(topo(context, "lft", scenario, *theirs))
    differing = sum(x != y for x, y in zip(rows, other))
    fab.expect(len(rows) == len(other) and differing == 0, f"{name} {engine}: {differing} of {len(rows)} rows differ from OpenSM's")
    return a


def case_opensm_tables(context):
    """ftree, updn and minhop give, entry by entry, the ports that OpenSM's engines give; ftree's shifts do not contend."""
    for tool in ("ibsim", "opensm", "ibsim-run"):
        if not shutil.which(tool):
            fab.skip(f"{tool} is not installed")
    for name in TREES:
        for engine in ("ftree", "updn", "minhop"):
            text = compare(context, name, engine)
            flows = 2 if "2:1" in name else 1
            if engine == "ftree":
                fab.expect_text(text, f"at most {flows} flow", "deadlock: none possible")
