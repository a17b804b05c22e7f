// kill -9 during writes, again and again: nothing that was acknowledged may be missing afterwards, and a request that is
// sent again under its idempotency key gets the answer it had.

import { expect } from 'vitest';
import { newPlace } from '../gateway/place.ts';
import { type GatewayProcess, startProcess } from '../gateway/process.ts';

/** The same at every start, whose port differs: answers that are given again are to be the same. */
const PUBLIC_URL = 'http://api.example';
const WRITERS = 6;
/** Kills at another moment each round. */
const ACKNOWLEDGED_MIN = 10;
const ACKNOWLEDGED_SPREAD = 40;

/** @returns how many credentials were acknowledged in all. */
export async function crash(rounds: number): Promise<number> {
  const place = await newPlace();
  const acknowledged: string[] = [];
  const env = { INITIAL_API_KEY: 'key-of-the-crash-tests', PUBLIC_API_URL: PUBLIC_URL };
  let gateway = await startProcess(env, place);
  try {
    for (let round = 1; round <= rounds; round++) {
      const keyed = `once in round ${round}`;
      const first = await createOnce(gateway, keyed);
      expect(first).toMatchObject({ status: 201, body: { token: expect.any(String) } });
      await writeUntilKilled(gateway, acknowledged, ACKNOWLEDGED_MIN + ((round * 17) % ACKNOWLEDGED_SPREAD));
      gateway = await gateway.restart();
      expect((await createOnce(gateway, keyed)).text).toBe(first.text);
      expect((await createOnce(gateway, keyed, 'another request')).status).toBe(409);
      const found = await allCredentials(gateway);
      const lost = acknowledged.filter((id) => !found.has(id));
      expect(lost, `lost in round ${round}`).toEqual([]);
      for (const [id, description] of found)
        expect(description, id).toMatch(/^(first agent|once in round \d+|x{200})$/);
      expect([...found.values()].filter((description) => description === keyed)).toHaveLength(1);
    }
    return acknowledged.length;
  } finally {
    await gateway.kill();
    await place.remove();
  }
}

/** Creates a credential, or gets the answer of when it was created. */
const createOnce = ({ call }: GatewayProcess, key: string, description = key) =>
  call('POST', '/credentials', { description }, { headers: { 'idempotency-key': key } });

/** Several writers at once; the process is killed while they wait for answers. */
async function writeUntilKilled(gateway: GatewayProcess, acknowledged: string[], count: number): Promise<void> {
  const enough = acknowledged.length + count;
  let killed: Promise<unknown> | undefined;
  const write = async () => {
    while (!killed) {
      const answer = await gateway.call('POST', '/credentials', { description: 'x'.repeat(200) }).catch(() => null);
      if (answer === null) return;
      expect(answer.status).toBe(201);
      acknowledged.push(answer.body.id);
      if (acknowledged.length >= enough) killed ??= gateway.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  await killed;
}

async function allCredentials({ call }: GatewayProcess): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let uri: string | null = '/credentials'; uri !== null; ) {
    const { status, body } = await call('GET', uri);
    expect(status).toBe(200);
    for (const { id, description } of body.credentials) found.set(id, description);
    uri = body.next_page_uri?.replace(PUBLIC_URL, '') ?? null;
  }
  return found;
}
