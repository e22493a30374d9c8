#include "bench/raw_curl.h"

#include <curl/curl.h>

#include <vector>

#include "pawl/result.h"

namespace pawl::bench {
namespace {

std::size_t count_bytes(char*, std::size_t, std::size_t size, void* total) {
  *static_cast<std::uint64_t*>(total) += size;
  return size;
}

CURL* make_handle(const std::string& url, const std::string& body, curl_slist* headers,
                  std::uint64_t& total) {
  CURL* const easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &count_bytes);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &total);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  return easy;
}

// Starts those that are done again while there are requests left; how many ended.
std::uint64_t take_results(CURLM* multi, std::uint64_t& left) {
  std::uint64_t ended = 0;
  int queued = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi, &queued)) {
    PAWL_ASSERT(message->msg == CURLMSG_DONE && message->data.result == CURLE_OK);
    CURL* const easy = message->easy_handle;
    ++ended;
    curl_multi_remove_handle(multi, easy);
    if (left == 0) continue;
    --left;
    curl_multi_add_handle(multi, easy);
  }
  return ended;
}

}  // namespace

void run_raw_curl(const std::string& url, const std::string& body, std::uint64_t requests,
                  std::size_t at_once, const std::vector<std::string>& more) {
  CURLM* const multi = curl_multi_init();
  curl_slist* headers = curl_slist_append(nullptr, "content-type: application/json");
  for (const std::string& header : more) headers = curl_slist_append(headers, header.c_str());
  std::uint64_t total = 0;
  std::uint64_t left = requests;
  std::vector<CURL*> handles;
  for (; handles.size() < at_once && left > 0; --left) {
    handles.push_back(make_handle(url, body, headers, total));
    curl_multi_add_handle(multi, handles.back());
  }
  int running = 0;
  for (std::uint64_t ended = 0; ended < requests; ended += take_results(multi, left)) {
    curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
    curl_multi_perform(multi, &running);
  }
  PAWL_ASSERT(total > 0);
  for (CURL* const easy : handles) curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  curl_slist_free_all(headers);
}

}  // namespace pawl::bench
