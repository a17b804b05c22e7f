// How much of captured requests one answer gives, however often a document asks for the same.

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CaptureLab, startCaptureLab } from './lab.ts';

const MIB = 1024 * 1024;
const TOO_MUCH = { code: 'BAD_USER_INPUT', errorCode: 'ERR_GATEWAY_90249' };

let lab: CaptureLab;
beforeAll(async () => {
  lab = await startCaptureLab();
});
afterAll(() => lab?.close());

/** A field under so many names. */
const times = (count: number, field: string) => Array.from({ length: count }, (_, n) => `a${n}: ${field}`).join(' ');

/** @returns the requests with these fields, the newest first. */
// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
async function requests(id: string, selection: string): Promise<any[]> {
  const query = `query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { ${selection} } } }`;
  return (await lab.run(query, { id })).nodes;
}

async function postTo(tunnel: Awaited<ReturnType<CaptureLab['tunnel']>>, bodies: Buffer[], coding?: string) {
  const headers: Record<string, string> = coding ? { 'content-encoding': coding } : {};
  for (const body of bodies) await lab.visit(tunnel, '/', { method: 'POST', body, headers });
}

describe('one answer', () => {
  test('gives bodies in Base64 up to 32 MiB, and fails beyond it', async () => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id, { bodyBytes: MIB });
    await postTo(tunnel, Array(7).fill(Buffer.alloc(MIB, 'x')));
    // A document that comes again is compiled.
    for (let n = 0; n < 4; n++)
      await expect(requests(tunnel.id, `requestBody { ${times(50, 'base64')} }`)).rejects.toMatchObject(TOO_MUCH);
    const all = await requests(tunnel.id, `requestBody { ${times(3, 'base64')} }`);
    expect(all).toHaveLength(7);
    expect(all[6].requestBody.a2).toHaveLength(Math.ceil(MIB / 3) * 4);
  });

  test('gives texts up to 24 MiB as JSON has them, and null beyond it: the rest is there', async () => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id, { bodyBytes: MIB });
    await postTo(tunnel, Array(7).fill(Buffer.alloc(MIB, 'x')));
    const all = await requests(tunnel.id, `path requestBody { ${times(49, 'text')} } requestHeaders { name value }`);
    const texts = all.flatMap(({ requestBody }) => Object.values(requestBody)) as (string | null)[];
    expect(texts).toHaveLength(7 * 49);
    expect(texts.filter((text) => text?.length === MIB)).toHaveLength(23);
    expect(texts.filter((text) => text === null)).toHaveLength(7 * 49 - 23);

    await lab.start(tunnel.id, { bodyBytes: MIB });
    await postTo(tunnel, Array(7).fill(gzipSync(Buffer.alloc(MIB))), 'gzip');
    const [escaped] = await requests(tunnel.id, `requestBody { ${times(7, 'text')} }`);
    expect(Object.values(escaped.requestBody).filter((text) => text !== null)).toHaveLength(3);
  });

  test('gives the texts of all requests of a page, where they are small', async () => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id, { bodyBytes: 1000 });
    await postTo(tunnel, Array(60).fill(gzipSync('small')), 'gzip');
    const all = await requests(tunnel.id, 'requestBody { text }');
    expect(all.map(({ requestBody }) => requestBody.text)).toEqual(Array(60).fill('small'));
  });

  test.each([
    ['headers', `${times(49, 'requestHeaders { value }')}`],
    ['values of headers', `requestHeaders { ${times(49, 'value')} }`],
    ['paths', times(49, 'path')],
    ['URLs', times(49, 'url')],
  ])('gives %s up to 32 MiB, and fails beyond it', async (_, selection) => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id);
    const path = `/${'p'.repeat(10_000)}`;
    const headers = { 'x-long': 'v'.repeat(10_000) };
    for (let n = 0; n < 80; n++) await lab.visit(tunnel, path, { headers });
    await expect(requests(tunnel.id, selection)).rejects.toMatchObject(TOO_MUCH);
    const [one] = await requests(tunnel.id, 'path url requestHeaders { name value }');
    expect(one).toMatchObject({
      path,
      requestHeaders: expect.arrayContaining([{ name: 'x-long', value: headers['x-long'] }]),
    });
  });

  test('is each event of a subscription: those before it do not count', async () => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id, { bodyBytes: MIB });
    const stream = await lab.watch(tunnel.id, `requestBody { ${times(12, 'base64')} text }`);
    for (let n = 0; n < 2; n++) {
      await postTo(tunnel, [Buffer.alloc(MIB, 'x')]);
      const told = JSON.stringify(await stream.next());
      expect(told.length).toBeGreaterThan(16 * MIB);
      expect(told).not.toContain('null');
    }
  });
});

test('a replay does not show what is not to be shown now, also of fields that the captured answer had not', async () => {
  const tunnel = await lab.tunnel();
  await lab.start(tunnel.id);
  await lab.visit(tunnel, '/plain');
  const [{ id }] = await lab.requests(tunnel.id);
  await lab.start(tunnel.id, { redactHeaders: ['x-token'] });
  const stop = 'mutation ($id: ID!) { stopTrafficCapture(endpointId: $id) { trafficCapture { isOn } } }';
  await lab.run(stop, { id: tunnel.id });
  const replay = await lab.replay(id, { path: '/secrets' });
  expect(replay.captured).toBeNull();
  expect(replay.headers).toContainEqual({ name: 'X-Token', value: '', isRedacted: true });
});
