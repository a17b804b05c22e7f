import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { HELLO_MAX, readClientHello } from '../../../src/edge/tls/client-hello.ts';

/** What Node sends first. */
async function hello(options: ConnectionOptions): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, ...options });
  client.on('error', () => {});
  const [socket] = await once(server, 'connection');
  const [bytes] = await once(socket, 'data');
  client.destroy();
  server.close();
  return bytes as Buffer;
}

let full: Buffer;
let bare: Buffer;
beforeAll(async () => {
  full = await hello({ servername: 'App.Example.com', ALPNProtocols: ['h2', 'http/1.1'] });
  bare = await hello({ maxVersion: 'TLSv1.2' });
});

/** The same message in records of so many bytes. */
function inRecordsOf(size: number, bytes: Buffer): Buffer {
  const message = bytes.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

/** The message without its records' headers, with `change` made to it, in one record whose lengths are right. */
function changed(bytes: Buffer, change: (body: Buffer) => Buffer): Buffer {
  const body = change(Buffer.from(bytes.subarray(9)));
  const head = Buffer.from([22, 3, 1, 0, 0, 1, 0, 0, 0]);
  head.writeUInt16BE(body.length + 4, 3);
  head.writeUIntBE(body.length, 6, 3);
  return Buffer.concat([head, body]);
}

const u16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const extension = (type: number, body: Buffer) => Buffer.concat([u16(type), u16(body.length), body]);
const vector = (body: Buffer) => Buffer.concat([u16(body.length), body]);
const name = (type: number, text: string) => Buffer.concat([Buffer.from([type]), vector(Buffer.from(text))]);

/** A ClientHello with these extensions. */
function withExtensions(...extensions: Buffer[]): Buffer {
  const start = Buffer.concat([Buffer.from([3, 3]), Buffer.alloc(32), Buffer.from([0, 0, 2, 0x13, 1, 1, 0])]);
  return changed(full, () => Buffer.concat([start, vector(Buffer.concat(extensions))]));
}

test('the name and the protocols that a client asks for', () => {
  expect(readClientHello(full)).toEqual({
    state: 'hello',
    serverName: 'App.Example.com',
    alpn: ['h2', 'http/1.1'],
  });
  expect(readClientHello(bare)).toEqual({ state: 'hello', serverName: undefined, alpn: [] });
});

test('a hello without any extension', () => {
  const bytes = changed(full, () =>
    Buffer.concat([Buffer.from([3, 3]), Buffer.alloc(32), Buffer.from([0, 0, 2, 0x13, 1, 1, 0])]),
  );
  expect(readClientHello(bytes)).toEqual({ state: 'hello', serverName: undefined, alpn: [] });
});

test.each([1, 2, 3, 4, 5, 100])('it may be spread over records of %i bytes', (size) => {
  expect(readClientHello(inRecordsOf(size, full))).toEqual(readClientHello(full));
});

test('however it is cut, it is read when it is complete and not before, and what is needed is never too much', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 700 }), fc.boolean(), fc.array(fc.nat(400)), (record, withName, cuts) => {
      const wire = inRecordsOf(record, withName ? full : bare);
      let at = 0;
      for (const cut of [...cuts, wire.length]) {
        at = Math.min(wire.length, at + cut);
        const found = readClientHello(wire.subarray(0, at));
        if (at === wire.length) expect(found).toEqual(readClientHello(withName ? full : bare));
        else {
          if (found.state !== 'more') throw new Error(`${found.state} after ${at} of ${wire.length} bytes`);
          expect(found.needed).toBeGreaterThan(at);
          expect(found.needed).toBeLessThanOrEqual(wire.length);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('nothing makes it throw, and nothing keeps it waiting for more than its limit', () => {
  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    // One that began well.
    fc
      .tuple(fc.boolean(), fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { maxLength: 5 }), fc.nat(700))
      .map(([withName, spots, length]) => {
        const bytes = Buffer.from(withName ? full : bare);
        for (const [at, value] of spots) if (at < bytes.length) bytes[at] = value;
        return bytes.subarray(0, length);
      }),
  );
  fc.assert(
    fc.property(hostile, (bytes) => {
      const found = readClientHello(bytes);
      expect(['more', 'none', 'hello']).toContain(found.state);
      if (found.state === 'more') {
        expect(found.needed).toBeGreaterThan(bytes.length);
        expect(found.needed).toBeLessThanOrEqual(HELLO_MAX);
      }
    }),
    { numRuns: 3000 },
  );
});

describe('is no ClientHello', () => {
  const big = (bytes: number) => withExtensions(extension(21, Buffer.alloc(bytes)));
  test.each<[string, () => Buffer]>([
    ['an HTTP request', () => Buffer.from('GET / HTTP/1.1\r\n')],
    ['another record', () => Buffer.concat([Buffer.from([23]), full.subarray(1)])],
    ['SSL 2', () => Buffer.from([0x80, 0x2e, 1, 0, 2])],
    ['another message', () => Buffer.concat([full.subarray(0, 5), Buffer.from([2]), full.subarray(6)])],
    ['an empty record', () => Buffer.from([22, 3, 1, 0, 0])],
    ['a record that is too long', () => Buffer.from([22, 3, 1, 0x40, 1])],
    [
      'something behind it in its record',
      () => {
        const bytes = Buffer.concat([full, Buffer.from([0])]);
        bytes.writeUInt16BE(bytes.length - 5, 3);
        return bytes;
      },
    ],
    ['too long', () => big(HELLO_MAX)],
    ['too long in small records', () => inRecordsOf(4, big(9000))],
    [
      'a session id of 33 bytes',
      () =>
        changed(full, (body) => {
          body[34] = 33;
          return body;
        }),
    ],
    ['a byte too many', () => changed(full, (body) => Buffer.concat([body, Buffer.from([0])]))],
    ['a byte too few', () => changed(full, (body) => body.subarray(0, -1))],
    ['an extension twice', () => withExtensions(extension(5, Buffer.alloc(1)), extension(5, Buffer.alloc(1)))],
    ['an empty list of names', () => withExtensions(extension(0, vector(Buffer.alloc(0))))],
    ['an empty name', () => withExtensions(extension(0, vector(name(0, ''))))],
    ['two names', () => withExtensions(extension(0, vector(Buffer.concat([name(0, 'a'), name(0, 'b')]))))],
    ['a name of another type', () => withExtensions(extension(0, vector(name(1, 'a'))))],
    ['something behind the names', () => withExtensions(extension(0, Buffer.concat([vector(name(0, 'a')), u16(0)])))],
    ['an empty list of protocols', () => withExtensions(extension(16, vector(Buffer.alloc(0))))],
    ['an empty protocol', () => withExtensions(extension(16, vector(Buffer.from([0]))))],
    ['a protocol cut short', () => withExtensions(extension(16, vector(Buffer.from([3, 0x61]))))],
  ])('%s', (_, bytes) => {
    expect(readClientHello(bytes())).toEqual({ state: 'none' });
  });

  test('just below the limit it is one', () => {
    expect(readClientHello(big(HELLO_MAX - 100)).state).toBe('hello');
  });
});
