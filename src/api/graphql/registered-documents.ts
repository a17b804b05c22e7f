// Documents that an operator registers (PERSISTED_DOCUMENTS_DIR): requests name them by their SHA-256, in browser sessions, too.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type GraphQLSchema, parse, validate } from 'graphql';

/** The most documents, and the most bytes of all their texts: they stay in memory, each ready to run. */
const COUNT_MAX = 10_000;
const BYTES_MAX = 32 * 1024 * 1024;

/** What is in the directory cannot be used. Its message is for the operator. */
export class RegisteredDocumentsError extends Error {}

/**
 * Reads the documents of a directory: files `*.graphql`, each a document; and `*.json`, which are what tools write, the texts by their
 * SHA-256 (codegen's client preset, Relay's compiler) or Apollo's manifest.
 * @returns the texts by their SHA-256 in hex.
 * @throws {RegisteredDocumentsError} when the directory or a file cannot be read, or is something else.
 */
export async function readRegisteredDocuments(directory: string): Promise<Map<string, string>> {
  const documents = new Map<string, string>();
  let bytes = 0;
  const add = (file: string, text: unknown, digest?: string) => {
    if (typeof text !== 'string') throw failure(file, 'a document is not a text');
    const own = createHash('sha256').update(text).digest('hex');
    if (digest !== undefined && digest !== own)
      throw failure(file, `"${digest}" is not the SHA-256 of its document, which is ${own}`);
    if (!documents.has(own)) bytes += Buffer.byteLength(text);
    documents.set(own, text);
    if (documents.size > COUNT_MAX || bytes > BYTES_MAX)
      throw failure(file, `at most ${COUNT_MAX} documents of ${BYTES_MAX} bytes together are possible`);
  };
  for (const file of (await filesOf(directory)).sort()) {
    const text = await readFile(join(directory, file), 'utf8').catch((error: Error) => {
      throw failure(file, error.message);
    });
    if (file.endsWith('.graphql')) add(file, text);
    else for (const [digest, document] of manifestOf(file, text)) add(file, document, digest);
  }
  return documents;
}

async function filesOf(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error: Error) => {
    throw new RegisteredDocumentsError(`PERSISTED_DOCUMENTS_DIR cannot be read: ${error.message}`);
  });
  return names.filter((name) => /^[^.].*\.(graphql|json)$/.test(name));
}

/** The documents of a manifest, each with what it names it. */
function manifestOf(file: string, text: string): [string, unknown][] {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw failure(file, (error as Error).message);
  }
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest))
    throw failure(file, 'it must be an object of documents by their SHA-256');
  const { format, operations } = manifest as { format?: unknown; operations?: unknown };
  if (format !== 'apollo-persisted-query-manifest') return Object.entries(manifest);
  if (!Array.isArray(operations)) throw failure(file, 'its operations must be a list');
  return operations.map(({ id, body }: { id: string; body: unknown }) => [id, body]);
}

function failure(file: string, reason: string): RegisteredDocumentsError {
  return new RegisteredDocumentsError(`${file} in PERSISTED_DOCUMENTS_DIR cannot be used: ${reason}.`);
}

/**
 * Of these documents, those that the schema does not fit, as after an upgrade: the SHA-256 of each, and its first mistake. Others have
 * their turn after each document.
 */
export async function* mistakesIn(
  documents: ReadonlyMap<string, string>,
  schema: GraphQLSchema,
): AsyncGenerator<[digest: string, mistake: string]> {
  for (const [digest, text] of documents) {
    const mistake = mistakeIn(text, schema);
    if (mistake !== undefined) yield [digest, mistake];
    await nextTurn();
  }
}

function mistakeIn(text: string, schema: GraphQLSchema): string | undefined {
  try {
    return validate(schema, parse(text), undefined, { maxErrors: 1 })[0]?.message;
  } catch (error) {
    return (error as Error).message;
  }
}
