import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WebsocketFrameReader } from '../../src/edge/websocket/frames.ts';
import { acceptWebsocket } from '../../src/edge/websocket/handshake.ts';
import { HeaderList } from '../../src/http/header-list.ts';
import { abortSocket } from '../../src/protocol/relay.ts';
import { door, fateOf, frame, read, visit, visitRaw } from './module-websocket-support.ts';

test('bytes go both ways, in messages of any kind and size', async () => {
  const place = await door();
  const { upstream, traffic } = place;
  const visitor = await visit(place);
  const binary = randomBytes(300_000);
  for (const size of [0, 1, 125, 126, 65_535, 65_536]) visitor.send(binary.subarray(0, size));
  visitor.send('text, ümläute');
  visitor.send('in ', { fin: false });
  visitor.send('parts', { fin: true });
  visitor.send(binary);
  const expected = Buffer.concat([
    ...[0, 1, 125, 126, 65_535, 65_536].map((size) => binary.subarray(0, size)),
    Buffer.from('text, ümläutein parts'),
    binary,
  ]);
  expect((await read(upstream, expected.length)).equals(expected)).toBe(true);
  expect(traffic.fromSocket).toBeGreaterThan(expected.length);

  let got = Buffer.alloc(0);
  const all = new Promise<void>((resolve) =>
    visitor.on('message', (data: Buffer, isBinary) => {
      expect(isBinary).toBe(true);
      got = Buffer.concat([got, data]);
      if (got.length === binary.length) resolve();
    }),
  );
  upstream.write(binary);
  await all;
  expect(got.equals(binary)).toBe(true);
});

test('frames may come byte by byte, and with the end of the handshake', async () => {
  const place = await door();
  const { upstream } = place;
  const { socket } = await visitRaw(place);
  socket.setNoDelay(true);
  for (const byte of Buffer.concat([frame(0x82, 'abc'), frame(0x89, 'ping'), frame(0x02, 'd'), frame(0x80, 'e')])) {
    await new Promise<void>((resolve) => socket.write(Buffer.of(byte), () => resolve()));
  }
  expect(String(await read(upstream, 5))).toBe('abcde');
});

test('wherever frames are cut, and wherever they are in memory, what is in them comes out', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 5 });
  const cuts = fc.array(fc.tuple(fc.integer({ min: 1, max: 80 }), fc.nat(3)), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(pieces, cuts, (messages, places) => {
      const wire = Buffer.concat(messages.map((message) => frame(0x82, Buffer.from(message))));
      const got: Buffer[] = [];
      const never = () => expect.fail('there is nothing but data');
      const onData = (chunk: Buffer) => void got.push(Buffer.from(chunk));
      const reader = new WebsocketFrameReader({ onData, onPing: never, onClose: never, onInvalid: never });
      for (let at = 0, i = 0; at < wire.length; i++) {
        const [length, offset] = places[i % places.length] as [number, number];
        const piece = wire.subarray(at, at + length);
        const memory = Buffer.alloc(offset + piece.length);
        memory.set(piece, offset);
        reader.take(memory.subarray(offset));
        at += length;
      }
      expect(Buffer.concat(got).equals(Buffer.concat(messages))).toBe(true);
    }),
    { seed: 20261121, numRuns: 300 },
  );
});

test('the first subprotocol that is offered is agreed to', async () => {
  expect((await visit(await door(), ['binary', 'base64'])).protocol).toBe('binary');
});

test.each([
  ['no key', { 'Sec-WebSocket-Version': '13' }],
  ['a short key', { 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'YWJj' }],
  ['another version', { 'Sec-WebSocket-Version': '8', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' }],
])('a handshake with %s is refused', (_, fields) => {
  expect(acceptWebsocket(new HeaderList(Object.entries(fields)))).toBe('badField');
});

test('a ping is answered with what was in it', async () => {
  const visitor = await visit(await door());
  visitor.ping('are you there?');
  expect(String((await once(visitor, 'pong'))[0])).toBe('are you there?');
});

test('when the visitor closes, upstream sees the end behind all that was sent, and the visitor the same code', async () => {
  const place = await door();
  const { upstream } = place;
  const visitor = await visit(place);
  const data = randomBytes(200_000);
  visitor.send(data);
  visitor.close(3001, 'done');
  const [code] = await once(visitor, 'close');
  expect(code).toBe(3001);
  expect((await read(upstream, data.length)).equals(data)).toBe(true);
  expect(await fateOf(upstream)).toBe('end');
});

test('when upstream ends, the visitor gets all that was sent and a Close with 1000', async () => {
  const place = await door();
  const { upstream } = place;
  const visitor = await visit(place);
  const data = randomBytes(200_000);
  let length = 0;
  visitor.on('message', (chunk: Buffer) => {
    length += chunk.length;
  });
  upstream.end(data);
  const [code] = await once(visitor, 'close');
  expect([code, length]).toEqual([1000, data.length]);
  upstream.resume();
  await once(upstream, 'end');
});

test('when upstream breaks, the visitor gets a Close with 1011', async () => {
  const place = await door();
  const { upstream } = place;
  const visitor = await visit(place);
  abortSocket(upstream);
  const [code] = await once(visitor, 'close');
  expect(code).toBe(1011);
});

test('a visitor who goes without a Close is a failure for upstream, not an end', async () => {
  const place = await door();
  const visitor = await visit(place);
  const fate = fateOf(place.upstream);
  visitor.terminate();
  expect(await fate).toBe('reset');
});

test('a visitor who does not answer a Close is cut after a while', async () => {
  const place = await door(50);
  const { upstream } = place;
  const { socket } = await visitRaw(place);
  upstream.end();
  await new Promise((resolve) => socket.on('close', resolve));
});

test('an upstream that reads nothing holds the visitor back', async () => {
  const place = await door();
  const { upstream, doorstep, traffic } = place;
  const visitor = await visit(place);
  const data = randomBytes(1_000_000);
  const total = 16 * data.length;
  const paused = once(doorstep(), 'pause');
  for (let i = 0; i < 16; i++) visitor.send(data);
  await paused;
  expect(traffic.fromSocket).toBeLessThan(total);
  expect((await read(upstream, total)).length).toBe(total);
});

const EURO = Buffer.from('€');

test.each([
  ['has a byte that is none', [frame(0x81, Buffer.from([0x61, 0xff]))], 'x'],
  ['has a byte that is none, before its last part', [frame(0x01, Buffer.from([0x61, 0xff]))], 'x'],
  ['has half of a pair', [frame(0x81, Buffer.from([0xed, 0xa0, 0x80]))], 'x'],
  ['ends within a character', [frame(0x81, EURO.subarray(0, 2))], 'x'],
  ['ends within a character, in parts', [frame(0x01, 'ok'), frame(0x80, EURO.subarray(0, 1))], 'xok'],
  ['goes on otherwise in the next part', [frame(0x01, EURO.subarray(0, 1)), frame(0x80, 'a')], 'x'],
])(
  'text that %s is answered with a Close with 1007, and breaks the connection to upstream',
  async (_, frames, taken) => {
    const place = await door();
    const { upstream } = place;
    const { socket, sent } = await visitRaw(place);
    const arrived: Buffer[] = [];
    upstream.on('data', (chunk: Buffer) => arrived.push(chunk));
    const fate = fateOf(upstream);
    socket.write(Buffer.concat([frame(0x82, 'x'), ...frames, frame(0x82, 'never')]));
    expect(await sent).toEqual(Buffer.from([0x88, 0x02, 0x03, 0xef]));
    expect(await fate).toBe('reset');
    expect(taken).toContain(String(Buffer.concat(arrived)).replace(/[^a-z]/g, '')); // What came before goes on, or is lost with a RST.
  },
);

test('text is text wherever it is cut, and bytes need not be', async () => {
  const place = await door();
  const { socket } = await visitRaw(place);
  const text = 'aé€😀';
  const parts = [...Buffer.from(text)].map((byte, i, all) =>
    frame((i === 0 ? 1 : 0) | (i === all.length - 1 ? 0x80 : 0), Buffer.from([byte])),
  );
  const bytes = Buffer.from([0xff, 0xc3]);
  socket.write(Buffer.concat([...parts, frame(0x02, bytes), frame(0x89, 'ping'), frame(0x80, ''), frame(0x81, text)]));
  const all = Buffer.concat([Buffer.from(text), bytes, Buffer.from(text)]);
  expect(await read(place.upstream, all.length)).toEqual(all);
});

test.each([
  ['is not masked', Buffer.from([0x82, 0x01, 0x61])],
  ['has a reserved bit', frame(0xc2, 'a')],
  ['has an unknown kind', frame(0x83, 'a')],
  ['has an unknown kind of control', frame(0x8b, 'a')],
  ['is a long ping', frame(0x89, Buffer.alloc(126))],
  ['is a part of a ping', frame(0x09, 'a')],
  ['goes on with nothing', frame(0x80, 'a')],
  ['begins within a message', Buffer.concat([frame(0x02, 'a'), frame(0x82, 'b')])],
  ['is longer than any', Buffer.from([0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4])],
  ['closes with half a code', frame(0x88, 'a')],
  ['closes with a code that nobody may send', frame(0x88, Buffer.from([0x03, 0xed]))],
  ['closes with a reason that is no text', frame(0x88, Buffer.from([0x03, 0xe8, 0xff]))],
])('a frame that %s is answered with a Close with 1002, and breaks the connection to upstream', async (_, bytes) => {
  const place = await door();
  const { upstream } = place;
  const { socket, sent } = await visitRaw(place);
  const fate = fateOf(upstream);
  socket.write(Buffer.concat([frame(0x82, 'x'), bytes, frame(0x82, 'never')]));
  expect(await sent).toEqual(Buffer.from([0x88, 0x02, 0x03, 0xea]));
  expect(await fate).toBe('reset');
});
