// libcurl, loaded when the first request needs it. It brings three quarters of the shared objects
// that a program with it has: 4 ms of every start and 6 MB, which most commands never use.
//
// load_libcurl() comes before anything else here.
#pragma once

#include <curl/curl.h>
#include <openssl/ssl.h>

#include "pawl/result.h"

namespace pawl::http_curl {

struct Libcurl {
  decltype(::curl_easy_init)* easy_init = nullptr;
  decltype(::curl_easy_cleanup)* easy_cleanup = nullptr;
  decltype(::curl_easy_setopt)* easy_setopt = nullptr;
  decltype(::curl_easy_getinfo)* easy_getinfo = nullptr;
  decltype(::curl_easy_pause)* easy_pause = nullptr;
  decltype(::curl_easy_recv)* easy_recv = nullptr;
  decltype(::curl_easy_send)* easy_send = nullptr;
  decltype(::curl_easy_strerror)* easy_strerror = nullptr;
  decltype(::curl_free)* free = nullptr;
  decltype(::curl_global_init)* global_init = nullptr;
  decltype(::curl_multi_add_handle)* multi_add_handle = nullptr;
  decltype(::curl_multi_cleanup)* multi_cleanup = nullptr;
  decltype(::curl_multi_info_read)* multi_info_read = nullptr;
  decltype(::curl_multi_init)* multi_init = nullptr;
  decltype(::curl_multi_remove_handle)* multi_remove_handle = nullptr;
  decltype(::curl_multi_setopt)* multi_setopt = nullptr;
  decltype(::curl_multi_socket_action)* multi_socket_action = nullptr;
  decltype(::curl_multi_timeout)* multi_timeout = nullptr;
  decltype(::curl_slist_append)* slist_append = nullptr;
  decltype(::curl_slist_free_all)* slist_free_all = nullptr;
  decltype(::curl_strequal)* strequal = nullptr;
  decltype(::curl_url)* url = nullptr;
  decltype(::curl_url_cleanup)* url_cleanup = nullptr;
  decltype(::curl_url_get)* url_get = nullptr;
  decltype(::curl_url_set)* url_set = nullptr;
  // Of the OpenSSL that libcurl itself uses; null where it uses another library for TLS.
  decltype(::SSL_CTX_set_alpn_protos)* ctx_set_alpn_protos = nullptr;
  decltype(::SSL_get0_alpn_selected)* get0_alpn_selected = nullptr;
};

// What the functions are called by: lib.easy_init().
extern Libcurl lib;

// Once in a process; later calls say the same. unavailable: it is not installed, or too old.
Status load_libcurl();
// The same without remembering.
Status load_libcurl_from(const char* name, Libcurl& to);

// Null is allowed, and then the library need not be there.
void free_handle(CURL* easy);
void free_list(curl_slist* list);

}  // namespace pawl::http_curl
