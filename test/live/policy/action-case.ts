// What a case of an action is made of, and the ways in which it is seen.

import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { expect } from 'vitest';
import { ORIGIN } from '../../policy/documents/support.ts';
import type { TestGateway } from '../../support/gateway/gateway.ts';
import type { VisitOptions } from '../../support/visit.ts';
import type { Seen, ShowingUpstream } from './lab.ts';

/** Where a case is tried. */
export interface Stage {
  gateway: TestGateway;
  /** The name that it is at. */
  host: string;
  upstream: ShowingUpstream;
  /** Visits the route of the case, which is called as the action. */
  go(options?: VisitOptions): Promise<Seen>;
}

export interface Setting {
  policy: object;
  shows(stage: Stage): Promise<void>;
}

export interface ActionCase {
  type: string;
  on: Setting;
  changed: Setting;
}

/** What upstream answers when nothing else is said. */
export const passed = { status: ORIGIN.status, body: ORIGIN.body };

/** Both settings have the same policy, but for one part. */
export function varied<T>(type: string, policy: (part: T) => object, on: [T, Shows], changed: [T, Shows]): ActionCase {
  const [first, second] = [on, changed].map(([part, shows]) => ({ policy: policy(part), shows }));
  return { type, on: first as Setting, changed: second as Setting };
}

export type Shows = Setting['shows'];

/** A visitor is answered so, and upstream is not asked. */
export const answered =
  (expected: object, options?: VisitOptions): Shows =>
  async ({ go, upstream }) => {
    expect(await go(options)).toMatchObject(expected);
    expect(upstream.asked).toEqual([]);
  };

/** Upstream is asked so. */
export const asks =
  (expected: object, options?: VisitOptions): Shows =>
  async ({ go, upstream }) => {
    expect(await go(options)).toMatchObject(passed);
    expect(upstream.asked).toMatchObject([expected]);
  };

/** Upstream is sent these header fields, and not the one of that name. */
export const sends =
  (headers: object, options?: VisitOptions, without?: string): Shows =>
  async (stage) => {
    await asks({ headers }, options)(stage);
    if (without) expect(stage.upstream.asked[0]?.headers).not.toHaveProperty([without]);
  };

/** A visitor who has ended his side with the request is answered. */
export const answersWhoHasEnded =
  (path: string): Shows =>
  async ({ gateway, host }) => {
    const [address, port] = gateway.https.split(':');
    const to = { host: address, port: Number(port), servername: host, ca: gateway.ca, allowHalfOpen: true };
    const socket = connect(to);
    socket.end(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  };

/** Visits in order: what each sends, and the status that it gets. */
export const statuses =
  (...visits: [VisitOptions, number | undefined][]): Shows =>
  async ({ go }) => {
    for (const [options, status] of visits) expect((await go(options))?.status).toBe(status);
  };
