// The server of HTTP/2 that bench/h2_server.cc starts: node h2_server.js KEY CERTIFICATE DELTAS
// INTERVAL_MS. Its first line says its port; a byte on its input is go(). What it serves is in
// h2_server.h.
"use strict";
const fs = require("fs");
const http2 = require("http2");

const [key, certificate, deltasMax, intervalMs] = process.argv.slice(2);
const DELTA_BYTES = 120;
const streams = [];

function delta() {
  const begin = "data: " + process.hrtime.bigint() + " ";
  return begin + "x".repeat(DELTA_BYTES - 2 - begin.length) + "\n\n";
}

// Spread evenly: each stream has its moment in the interval.
function go() {
  const began = process.hrtime.bigint();
  let said = 0;
  const timer = setInterval(() => {
    const passedMs = Number(process.hrtime.bigint() - began) / 1e6;
    const all = streams.length * Number(deltasMax);
    const due = Math.min(all, Math.floor((passedMs / Number(intervalMs)) * streams.length));
    for (; said < due; ++said) {
      const stream = streams[said % streams.length];
      if (said >= all - streams.length) stream.end(delta());
      else stream.write(delta());
    }
    if (said === all) clearInterval(timer);
  }, 1);
}

const server = http2.createSecureServer({
  key: fs.readFileSync(key),
  cert: fs.readFileSync(certificate),
  settings: { maxConcurrentStreams: 1000 },
});
server.on("stream", (stream, headers) => {
  stream.on("error", () => {});
  if (headers[":path"] !== "/stream") {
    stream.respond({ ":status": 200 });
    stream.resume();
    stream.on("end", () => stream.end("fine"));
    return;
  }
  stream.respond({ ":status": 200, "content-type": "text/event-stream" });
  stream.write(delta());
  streams.push(stream);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.once("data", go);
process.stdin.on("end", () => process.exit(0));
