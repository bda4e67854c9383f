# cmake -DFABRICAST=binary -P cli_words.cmake
# The words of the command line: exit codes, nearest names, where the text goes.

# expect(CODE STREAM REGEX ARGS...): STREAM (out, err) of `fabricast ARGS` matches REGEX, exit CODE.
function(expect code stream regex)
  execute_process(COMMAND ${FABRICAST} ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status)
  if(NOT status STREQUAL code OR NOT "${${stream}}" MATCHES "${regex}")
    message(SEND_ERROR "fabricast ${ARGN}: exit ${status}, wanted ${code} and std${stream} like '${regex}'\n${out}${err}")
  endif()
endfunction()

expect(0 out "^fabricast [0-9]+\\.[0-9]+\\.[0-9]+\n$" --version)
expect(0 out "^usage: fabricast COMMAND" help)
expect(0 out "^usage: fabricast COMMAND" --help)
expect(0 out "fabricast list .*--assumed" help list)
expect(2 err "^usage: fabricast COMMAND")
expect(2 err "unknown command 'lits'; did you mean 'list'\\? Allowed: run, check, list" lits)
expect(2 err "unknown command 'rnu'; did you mean 'run'\\?" help rnu)
expect(2 err "allowed: params \\[GROUP\\], catalogue" list)
expect(2 err "unknown subject 'parms'; did you mean 'params'\\?" list parms)
expect(2 err "unknown group 'dcqn'; did you mean 'dcqcn'\\?" list params dcqn)
expect(2 err "--bogus" list params --bogus)
expect(2 err "exclude each other" list params --json --markdown)
expect(0 out "\npfc\\.quanta +65535 +1 to 65535 +int +IEEE 802\\.1Qbb" list params pfc)
expect(0 out "\"name\" : \"pfc\\.quanta\"" list params pfc --json)
expect(0 out "## \\[pfc\\]" list params pfc --markdown)
expect(0 out "run\\.deadlock_after +10ms" list params run --assumed)

execute_process(COMMAND ${FABRICAST} list params --assumed OUTPUT_VARIABLE assumed)
if(assumed MATCHES "run\\.seed")
  message(SEND_ERROR "fabricast list params --assumed shows run.seed, which is a site setting")
endif()
