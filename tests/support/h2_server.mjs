// An HTTP/2 server over TLS for tests of the client: node's http2, told by the path what to do.
//   node h2_server.mjs CERTIFICATE KEY [streams-per-connection [port]]
// With a port it hands everything to the HTTP/1.1 server there, and says its own on its first line.
import http2 from 'node:http2';
import fs from 'node:fs';
import http from 'node:http';
import crypto from 'node:crypto';

const [certificate, key, streams, upstream] = process.argv.slice(2);
const server = http2.createSecureServer({
  cert: fs.readFileSync(certificate),
  key: fs.readFileSync(key),
  allowHTTP1: false,
  maxSessionMemory: 1000,  // it would refuse streams of its own accord
  settings: { maxConcurrentStreams: Number(streams ?? 100) },
});

const counts = { sessions: 0, streams: 0, resets: 0 };
const refused = new Set();

// The same as in h2_servers_test.h.
function bodyOf(seed, bytes) {
  const out = Buffer.allocUnsafe(bytes);
  for (let i = 0; i < bytes; i++) out[i] = 97 + ((i * 7 + (i >> 8) + seed) % 26);
  return out;
}

function send(stream, body, pieces, ms, then) {
  const step = Math.max(1, Math.ceil(body.length / pieces));
  let at = 0;
  const next = () => {
    if (stream.destroyed) return;
    const part = body.subarray(at, at + step);
    at += part.length;
    const more = at < body.length;
    const written = stream.write(part);
    const go = () => (more ? (ms > 0 ? setTimeout(next, ms) : setImmediate(next)) : then());
    if (written) go(); else stream.once('drain', go);
  };
  next();
}

function forward(stream, headers) {
  const passed = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')));
  const request = http.request({ host: '127.0.0.1', port: Number(upstream), method: headers[':method'],
    path: headers[':path'], headers: { ...passed, host: headers[':authority'] } });
  request.on('error', () => stream.destroy(new Error('upstream')));
  request.on('response', (response) => {
    const { connection, 'transfer-encoding': coding, 'keep-alive': kept, ...rest } = response.headers;
    if (stream.destroyed) return;
    stream.respond({ ':status': response.statusCode, ...rest });
    response.on('error', () => stream.destroy(new Error('upstream')));
    response.pipe(stream);
  });
  stream.pipe(request);
}

server.on('session', (session) => {
  counts.sessions++;
  session.on('error', () => {});
});
server.on('sessionError', () => {});
server.on('stream', (stream, headers) => {
  counts.streams++;
  stream.on('error', () => {});
  stream.on('aborted', () => counts.resets++);
  if (upstream) return forward(stream, headers);
  const [, what, ...rest] = headers[':path'].split('/');
  const [seed, bytes, pieces, ms] = rest.map(Number);
  const begin = (more = {}) => stream.respond({ ':status': 200, 'content-type': 'text/plain', ...more });
  const whole = () => {
    begin();
    send(stream, bodyOf(seed, bytes), pieces || 1, ms || 0, () => stream.end());
  };
  switch (what) {
    case 'body': return whole();
    case 'length':
      begin({ 'content-length': bytes });
      return stream.end(bodyOf(seed, bytes));
    case 'cut':  // after the bytes
      begin();
      return send(stream, bodyOf(seed, bytes), pieces || 1, ms || 0,
        () => setTimeout(() => stream.destroy(new Error('cut')), 5));
    case 'refuse':  // the first `bytes` times
      for (let time = 0; time < bytes; time++) {
        if (refused.has(`${seed}.${time}`)) continue;
        refused.add(`${seed}.${time}`);
        return stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
      }
      begin();
      return stream.end('at last');
    case 'old': return stream.close(http2.constants.NGHTTP2_HTTP_1_1_REQUIRED);
    case 'goaway':  // what has begun goes on, nothing else begins here
      begin();
      return send(stream, bodyOf(seed, bytes), 2, 5, () => {
        stream.session.close();
        stream.end();
      });
    case 'die':
      begin();
      return send(stream, bodyOf(seed, bytes), 1, 0, () => stream.session.destroy());
    case 'silent': return undefined;
    case 'packed':
      begin({ 'content-encoding': 'gzip' });
      return stream.end('no');
    case 'early':  // answers before the request is complete
      stream.respond({ ':status': 413 });
      return stream.end('too much');
    case 'echo': {
      const hash = crypto.createHash('sha256');
      let size = 0;
      stream.on('data', (part) => { hash.update(part); size += part.length; });
      return stream.on('end', () => { begin(); stream.end(`${size} ${hash.digest('hex')}`); });
    }
    case 'headers':
      begin();
      return stream.end(JSON.stringify(headers));
    case 'counts':
      begin();
      return stream.end(JSON.stringify(counts));
    default:
      stream.respond({ ':status': 404 });
      return stream.end();
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
