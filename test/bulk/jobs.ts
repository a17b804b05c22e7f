// What tests of bulk jobs share.

import { expect } from 'vitest';
import type { Owner } from '../support/gateway/gateway.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer, the test says.
export type Body = any;

export const JOB =
  'id list action state total done failed skipped startedAt finishedAt actorId ownerId setLabels removeLabels filter search ' +
  'isUndoable undoOf { id } undoneBy { id } failures { nodes { objectId message code } }';

const START = `mutation ($input: BulkJobInput!, $key: String) { startBulkJob(input: $input, idempotencyKey: $key) { bulkJob { ${JOB} } } }`;

export async function start(owner: Pick<Owner, 'graphql'>, input: object, key?: string): Promise<Body> {
  return (await owner.graphql(START, { input, key })).body;
}

export async function jobOf(owner: Pick<Owner, 'graphql'>, id: string): Promise<Body> {
  const { body } = await owner.graphql(`query ($id: ID!) { bulkJob(id: $id) { ${JOB} } }`, { id });
  const { failures, ...job } = body.data.bulkJob;
  return { ...job, failures: failures.nodes };
}

/** The job when it has ended. */
export async function ended(owner: Pick<Owner, 'graphql'>, id: string): Promise<Body> {
  await expect.poll(async () => (await jobOf(owner, id)).finishedAt).not.toBeNull();
  return jobOf(owner, id);
}

/** Starts a job, and waits for its end. */
export async function run(owner: Pick<Owner, 'graphql'>, input: object): Promise<Body> {
  const { data, errors } = await start(owner, input);
  expect(errors).toBeUndefined();
  return ended(owner, data.startBulkJob.bulkJob.id);
}

export async function undo(owner: Pick<Owner, 'graphql'>, id: string): Promise<Body> {
  const { body } = await owner.graphql('mutation ($id: ID!) { undoBulkJob(id: $id) { bulkJob { id } } }', { id });
  return body;
}
