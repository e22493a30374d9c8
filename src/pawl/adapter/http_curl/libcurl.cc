#include "pawl/adapter/http_curl/libcurl.h"

#include <dlfcn.h>

#include <string>

namespace pawl::http_curl {
namespace {

// The interface of 7.16 and all since. Debian's is that with OpenSSL.
constexpr const char* kName = "libcurl.so.4";

// Looks in the library, then in those that it needs.
template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

bool find_easy(void* library, Libcurl& to) {
  return find(library, "curl_easy_init", to.easy_init) &&
         find(library, "curl_easy_cleanup", to.easy_cleanup) &&
         find(library, "curl_easy_setopt", to.easy_setopt) &&
         find(library, "curl_easy_getinfo", to.easy_getinfo) &&
         find(library, "curl_easy_pause", to.easy_pause) &&
         find(library, "curl_easy_recv", to.easy_recv) &&
         find(library, "curl_easy_send", to.easy_send) &&
         find(library, "curl_easy_strerror", to.easy_strerror);
}

bool find_multi(void* library, Libcurl& to) {
  return find(library, "curl_multi_add_handle", to.multi_add_handle) &&
         find(library, "curl_multi_cleanup", to.multi_cleanup) &&
         find(library, "curl_multi_info_read", to.multi_info_read) &&
         find(library, "curl_multi_init", to.multi_init) &&
         find(library, "curl_multi_remove_handle", to.multi_remove_handle) &&
         find(library, "curl_multi_setopt", to.multi_setopt) &&
         find(library, "curl_multi_socket_action", to.multi_socket_action) &&
         find(library, "curl_multi_timeout", to.multi_timeout);
}

bool find_others(void* library, Libcurl& to) {
  return find(library, "curl_free", to.free) && find(library, "curl_global_init", to.global_init) &&
         find(library, "curl_slist_append", to.slist_append) &&
         find(library, "curl_slist_free_all", to.slist_free_all) &&
         find(library, "curl_strequal", to.strequal) && find(library, "curl_url", to.url) &&
         find(library, "curl_url_cleanup", to.url_cleanup) &&
         find(library, "curl_url_get", to.url_get) && find(library, "curl_url_set", to.url_set);
}

}  // namespace

Libcurl lib;

Status load_libcurl_from(const char* name, Libcurl& to) {
  void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);  // for good
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return Error{ErrorCode::unavailable,
                 std::string("libcurl cannot be loaded: ") + (why != nullptr ? why : name)};
  }
  if (!find_easy(library, to) || !find_multi(library, to) || !find_others(library, to)) {
    return Error{ErrorCode::unavailable, std::string(name) + " lacks what is needed of libcurl"};
  }
  find(library, "SSL_CTX_set_alpn_protos", to.ctx_set_alpn_protos);
  find(library, "SSL_get0_alpn_selected", to.get0_alpn_selected);
  if (to.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Error{ErrorCode::unavailable, "libcurl cannot be set up"};
  }
  return ok();
}

Status load_libcurl() {
  static const Status loaded = load_libcurl_from(kName, lib);
  return loaded;
}

void free_handle(CURL* easy) {
  if (easy != nullptr) lib.easy_cleanup(easy);
}

void free_list(curl_slist* list) {
  if (list != nullptr) lib.slist_free_all(list);
}

}  // namespace pawl::http_curl
