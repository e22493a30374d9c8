// What the common tools take, as JSON Schema.
#pragma once

namespace pawl {

// The schemas of the arguments of the common tools (docs/tools.md).
inline constexpr const char* kExecSchema = R"({"type":"object","properties":{
"argv":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":1000,
"description":"The program and its arguments; no shell reads them"},
"input":{"type":"string","description":"Given to the program as standard input"},
"timeout":{"type":"integer","minimum":1,"description":"Milliseconds"},
"description":{"type":"string","description":"Why it is run"}},
"required":["argv"],"additionalProperties":false})";

inline constexpr const char* kBashSchema = R"({"type":"object","properties":{
"command":{"type":"string","minLength":1,"description":"The bash command"},
"description":{"type":"string","description":"Why it is run"},
"timeout":{"type":"integer","minimum":1,"description":"Milliseconds"}},
"required":["command"],"additionalProperties":false})";

inline constexpr const char* kViewSchema = R"({"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"A file or directory"},
"view_range":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2,
"description":"First and last line, from 1; -1 as the last is the end"},
"description":{"type":"string","description":"Why it is looked at"}},
"required":["path"],"additionalProperties":false})";

inline constexpr const char* kCreateSchema = R"({"type":"object","properties":{
"path":{"type":"string","minLength":1},
"file_text":{"type":"string","description":"All of the file, exactly"},
"overwrite":{"type":"boolean","description":"Replace a file that exists; false unless given"},
"description":{"type":"string","description":"Why it is made"}},
"required":["path","file_text"],"additionalProperties":false})";

inline constexpr const char* kReplaceSchema = R"({"type":"object","properties":{
"path":{"type":"string","minLength":1},
"old_str":{"type":"string","minLength":1,"description":"Must occur exactly once in the file"},
"new_str":{"type":"string","description":"Nothing unless given: old_str is removed"},
"description":{"type":"string","description":"Why it is changed"}},
"required":["path","old_str"],"additionalProperties":false})";

inline constexpr const char* kGrepSchema = R"({"type":"object","properties":{
"pattern":{"type":"string","minLength":1,"maxLength":4096,
"description":"A regular expression (RE2), matched line by line"},
"path":{"type":"string","minLength":1,"description":"File or directory; here unless given"},
"include":{"type":"string","description":"Only files that match this glob, such as *.{h,cc}"},
"context":{"type":"integer","minimum":0,"maximum":20,"description":"Lines around each match"},
"ignore_case":{"type":"boolean"}},
"required":["pattern"],"additionalProperties":false})";

inline constexpr const char* kGlobSchema = R"({"type":"object","properties":{
"pattern":{"type":"string","minLength":1,"maxLength":1000,
"description":"*, ?, [a-z], {a,b}, and ** for any number of directories"},
"path":{"type":"string","minLength":1,"description":"Where to look; here unless given"}},
"required":["pattern"],"additionalProperties":false})";

inline constexpr const char* kPatchSchema = R"({"type":"object","properties":{
"patch":{"type":"string","minLength":1,
"description":"A unified diff, or *** Begin Patch ... *** End Patch; all or nothing"},
"description":{"type":"string","description":"Why it is changed"}},
"required":["patch"],"additionalProperties":false})";

inline constexpr const char* kTodoSchema = R"({"type":"object","properties":{
"items":{"type":"array","maxItems":100,"items":{"type":"object","properties":{
"text":{"type":"string","minLength":1,"maxLength":500},
"status":{"enum":["pending","in_progress","done"]}},
"required":["text","status"],"additionalProperties":false},
"description":"The whole list; it replaces the one before"}},
"required":["items"],"additionalProperties":false})";

inline constexpr const char* kAskSchema = R"({"type":"object","properties":{
"question":{"type":"string","minLength":1,"maxLength":4000},
"options":{"type":"array","maxItems":20,"items":{"type":"string","minLength":1,"maxLength":500},
"description":"Answers to choose from; a free answer unless given"}},
"required":["question"],"additionalProperties":false})";

inline constexpr const char* kReadOutputSchema = R"({"type":"object","properties":{
"artifact":{"type":"string","minLength":1,"maxLength":255,
"description":"The artifact that a result with truncated output named"},
"offset":{"type":"integer","minimum":0,"description":"Bytes to pass over; 0 unless given"},
"length":{"type":"integer","minimum":1,"description":"Bytes at most"}},
"required":["artifact"],"additionalProperties":false})";

}  // namespace pawl
