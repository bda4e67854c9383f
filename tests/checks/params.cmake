# docs/PARAMETERS.md is what the binary prints; words of the command line. Included by tests/checks/CMakeLists.txt.
if(TARGET fabricast)
  add_test(NAME checks/params_doc
    COMMAND ${CMAKE_COMMAND} -DFABRICAST=$<TARGET_FILE:fabricast> -DDOC=${PROJECT_SOURCE_DIR}/docs/PARAMETERS.md
            -DWORK_DIR=${CMAKE_CURRENT_BINARY_DIR} -P ${CMAKE_CURRENT_LIST_DIR}/params_doc.cmake)
  add_test(NAME checks/cli_words
    COMMAND ${CMAKE_COMMAND} -DFABRICAST=$<TARGET_FILE:fabricast> -P ${CMAKE_CURRENT_LIST_DIR}/cli_words.cmake)
  set_tests_properties(checks/params_doc checks/cli_words PROPERTIES LABELS check)
  # "cmake --build . --target params_doc" writes the file anew.
  add_custom_target(params_doc
    COMMAND ${CMAKE_COMMAND} -DFABRICAST=$<TARGET_FILE:fabricast> -DDOC=${PROJECT_SOURCE_DIR}/docs/PARAMETERS.md
            -DWRITE=ON -P ${CMAKE_CURRENT_LIST_DIR}/params_doc.cmake
    DEPENDS fabricast)
endif()
