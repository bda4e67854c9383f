# cmake -DFABRICAST=binary -DDOC=docs/PARAMETERS.md [-DWRITE=ON | -DWORK_DIR=dir] -P params_doc.cmake
# Compares DOC with the output of `fabricast list params --markdown`, or writes it.
if(WRITE)
  set(output ${DOC})
else()
  set(output ${WORK_DIR}/PARAMETERS.md)
endif()

execute_process(COMMAND ${FABRICAST} list params --markdown OUTPUT_FILE ${output}.new RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "fabricast list params --markdown: exit ${status}")
endif()
file(RENAME ${output}.new ${output})
if(WRITE)
  return()
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${output} ${DOC} RESULT_VARIABLE differs)
if(differs)
  execute_process(COMMAND diff -u ${DOC} ${output})
  message(FATAL_ERROR "${DOC} is stale; build the target params_doc")
endif()
