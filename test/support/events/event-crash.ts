// Gateways are killed with -9 while they write and deliver. Afterwards each acknowledged change has its event in Kinesis,
// in the order in which each writer made them; what came twice came with the same id.

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { newPlace, onServer, type Place } from '../gateway/place.ts';
import { type GatewayProcess, startProcess } from '../gateway/process.ts';
import { startKinesis } from './kinesis.ts';

export interface EventCrash {
  /** Changes, each of which has one event. */
  events: number;
  /** Processes killed, at even distances. */
  kills: number;
}

export interface EventCrashFigures {
  /** Records that came more than once. */
  duplicates: number;
  /** From the first change to the last record; seconds. */
  seconds: number;
}

const DRAIN_MS = 120_000;
const WRITERS = 8;
const key = 'key-of-the-event-crash-tests';

/** With one gateway on the embedded database; with two on a server. */
export async function eventCrash({ events, kills }: EventCrash): Promise<EventCrashFigures> {
  const kinesis = await startKinesis();
  const place = await newPlace();
  const env = {
    INITIAL_API_KEY: key,
    PUBLIC_API_URL: 'http://api.example', // Answers that are given again are to be the same, at whatever port.
    SERVER_KEY: randomBytes(32).toString('base64'),
    NODE_LEASE_MS: '1000',
    ...kinesis.env,
  };
  const gateways: GatewayProcess[] = [await startProcess(env, place)];
  const other: Place | undefined = onServer ? await secondPlace(place) : undefined;
  if (other) gateways.push(await startProcess(env, other, key));
  const began = performance.now();
  const run: Run = {
    gateways,
    next: 0,
    events,
    killEvery: Math.ceil(events / (kills + 1)),
    killing: undefined,
    first: undefined,
  };
  try {
    await subscribe(gateways[0] as GatewayProcess, kinesis.target);
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(run, writer)));
    const records = await drained(kinesis.records, events);
    const seconds = (performance.now() - began) / 1000;
    await checkKept(gateways[0] as GatewayProcess, run);
    return { duplicates: check(records, events), seconds };
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await kinesis.close();
    await place.remove();
  }
}

interface Run {
  gateways: GatewayProcess[];
  /** The number of the next change. */
  next: number;
  events: number;
  killEvery: number;
  /** Settles when the gateway that was killed is there again. */
  killing: Promise<void> | undefined;
  /** The first change, and its answer. */
  first: { description: string; text: string } | undefined;
}

/** Makes changes one after the other, by turns through each gateway; each is asked for until it is acknowledged. */
async function write(run: Run, writer: number): Promise<void> {
  while (run.next < run.events) {
    const n = run.next++;
    if (n > 0 && n % run.killEvery === 0) kill(run, n % run.gateways.length);
    for (let isDone = false; !isDone; ) {
      const { call } = run.gateways[n % run.gateways.length] as GatewayProcess;
      const description = `${writer} ${n}`;
      const answer = await call('POST', '/ip_policies', { description }, keyOf(n)).catch(() => null);
      if (answer) expect(answer).toMatchObject({ status: 201 });
      if (answer && n === 0) run.first = { description, text: answer.text };
      else await run.killing;
      isDone = answer !== null;
    }
  }
}

const keyOf = (n: number) => ({ headers: { 'idempotency-key': `change ${n}` } });

/** The first change is known by its key, and the newest changes are there, each once. */
async function checkKept({ call }: GatewayProcess, { first, events }: Run): Promise<void> {
  const again = await call('POST', '/ip_policies', { description: first?.description }, keyOf(0));
  expect(again.text, 'the answer of before the kill').toBe(first?.text);
  expect((await call('POST', '/ip_policies', { description: 'another' }, keyOf(0))).status).toBe(409);
  const { body } = await call('GET', '/ip_policies');
  const kept = body.ip_policies.map(({ description }: { description: string }) => Number(description.split(' ')[1]));
  expect(new Set(kept).size).toBe(Math.min(events, 100));
}

/** Kills a gateway while changes are under way, and starts it again. */
function kill(run: Run, at: number): void {
  const gateway = run.gateways[at] as GatewayProcess;
  run.killing = gateway.kill('SIGKILL').then(async () => {
    run.gateways[at] = await gateway.restart();
  });
}

/** Another data directory on the same database. */
async function secondPlace(first: Place): Promise<Place> {
  const { dataDir } = await newPlace();
  return { ...first, dataDir, env: { ...first.env, DATA_DIR: dataDir } };
}

async function subscribe({ call }: GatewayProcess, target: object): Promise<void> {
  const destination = await call('POST', '/event_destinations', { format: 'json', target });
  expect(destination.status, destination.text).toBe(201);
  const subscription = await call('POST', '/event_subscriptions', {
    sources: [{ type: 'ip_policy_created.v0' }],
    destination_ids: [destination.body.id],
  });
  expect(subscription.status, subscription.text).toBe(201);
}

/** Waits until as many different events as there were changes have come. */
async function drained(records: () => Promise<string[]>, events: number): Promise<string[]> {
  const deadline = performance.now() + DRAIN_MS;
  for (;;) {
    const all = await records();
    if (new Set(all.map(idOf)).size >= events || performance.now() > deadline) return all;
    await pause(100); // A reader of Kinesis can only ask again.
  }
}

const idOf = (record: string): string => JSON.parse(record).event_id;

/** @returns how many came more than once. */
function check(records: string[], events: number): number {
  const texts = new Map<string, string>();
  const last = new Map<string, number>();
  const seen = new Set<number>();
  for (const record of records) {
    const { event_id: id, event_type: type, object } = JSON.parse(record);
    const known = texts.get(id);
    if (known !== undefined) {
      expect(record, 'the same event again').toBe(known);
      continue;
    }
    texts.set(id, record);
    expect(type).toBe('ip_policy_created.v0');
    const [writer, n] = object.description.split(' ') as [string, string];
    expect(Number(n), 'after the change before it of the same writer').toBeGreaterThan(last.get(writer) ?? -1);
    last.set(writer, Number(n));
    seen.add(Number(n));
  }
  expect(texts.size, 'one event for each change').toBe(events);
  expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: events }, (_, n) => n));
  return records.length - texts.size;
}
