// Every REST answer of the whole run is held against /openapi.json, in the dialect that was asked.

import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Agent } from 'node:http';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { inject } from 'vitest';
import { DIALECTS, type Dialect } from '../../../src/api/route.ts';
import { type Answer, send } from './http.ts';

const ID = 'openapi';
const ERROR = '#/components/schemas/Error';

interface Document {
  paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>;
  components?: { schemas?: Record<string, unknown> };
}

/** @throws what is wrong with an answer. */
type AnswerCheck = (method: string, path: string, answer: Answer) => void;

export type AnswerChecks = Record<Dialect, AnswerCheck>;

let known: AnswerChecks | undefined;

/**
 * The checks of a gateway's answers. The documents of each are the same but for their address, so that the first gateway of a run is
 * asked for them, for all of its workers: making them compiles every operation of REST.
 */
export async function answerChecksOf(api: string, agent: Agent): Promise<AnswerChecks> {
  if (known) return known;
  const documents = await Promise.all(
    DIALECTS.map(async (dialect) => [dialect, await documentOf(api, agent, dialect)]),
  );
  const made = Object.fromEntries(
    documents.map(([dialect, document]) => [dialect, document ? answerCheck(document as Document) : () => {}]),
  ) as AnswerChecks;
  if (documents.every(([, document]) => document)) known = made;
  return made;
}

/** Undefined where a gateway does not give it. */
async function documentOf(api: string, agent: Agent, dialect: Dialect): Promise<Document | undefined> {
  const file = join(inject('run'), `openapi-${dialect}.json`);
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined) return JSON.parse(kept);
  const { status, body, text } = await send(agent, 'GET', `${api}/openapi.json?dialect=${dialect}`, {});
  if (status !== 200) return undefined;
  // Other workers read it whole, or not at all.
  const draft = `${file}-${randomUUID()}`;
  await writeFile(draft, text);
  await rename(draft, file);
  return body;
}

/**
 * A check of answers against the document: the path, the method and the status must be in it, and the body must be of
 * its schema. What no row answers (an unknown path or method, OPTIONS) must have the shared error body, or none.
 */
function answerCheck(document: Document): AnswerCheck {
  const { paths } = document;
  let ajv: Ajv2020 | undefined; // Most workers check answers of one dialect.
  const templates = Object.keys(paths).map((path) => ({ path, pattern: patternOf(path) }));

  return (method, path, answer) => {
    const fail = (reason: string) => {
      throw new Error(`${method} ${path} → ${answer.status} is not as in /openapi.json: ${reason}\n${answer.text}`);
    };
    const conforms = (pointer: string) => {
      ajv ??= schemasOf(document);
      const validate = ajv.getSchema(ID + pointer);
      if (!validate) return fail(`there is no ${pointer}`);
      if (!validate(answer.body)) fail(ajv.errorsText(validate.errors));
    };
    const known = templates.filter(({ pattern }) => pattern.test(path)).map((template) => template.path);
    // The path without a parameter in it is meant when both fit.
    const template = known.sort((a, b) => a.split('{').length - b.split('{').length)[0];
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    const responses = template === undefined ? undefined : paths[template]?.[verb]?.responses;
    if (template === undefined || !responses) {
      if (path === '/openapi.json' || (method === 'OPTIONS' && answer.status === 204)) return;
      const expected = template === undefined ? [404] : [405];
      if (!expected.includes(answer.status)) fail('the document has no such path and method');
      if (method !== 'HEAD') conforms(ERROR);
      return;
    }
    const status = [String(answer.status), `${Math.floor(answer.status / 100)}XX`, 'default'].find(
      (name) => name in responses,
    );
    if (status === undefined) return fail('the document has no such status');
    const step = (text: string) => text.replaceAll('~', '~0').replaceAll('/', '~1');
    const here = resolve(document, `#/paths/${step(template)}/${verb}/responses/${status}`);
    const { content } = here.value as { content?: Record<string, unknown> };
    if (!content) {
      if (answer.text !== '') fail('the document has no body here');
      return;
    }
    if (method === 'HEAD') return;
    const type = answer.headers['content-type']?.split(';', 1)[0] ?? '';
    if (!(type in content)) fail(`the document has no ${type || 'answer without a body'} here`);
    conforms(`${here.pointer}/content/${step(type)}/schema`);
    if (answer.status >= 400) conforms(ERROR);
  };
}

function schemasOf(document: Document): Ajv2020 {
  // Most schemas check a few answers: optimising their code takes longer than it saves.
  const code = { optimize: false };
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, logger: false, code });
  addFormats.default(ajv);
  ajv.addSchema(document, ID);
  return ajv;
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** Follows a pointer, and references on its way's end. */
function resolve(document: object, pointer: string): { value: unknown; pointer: string } {
  const value = pointer
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
  const reference = (value as { $ref?: string } | undefined)?.$ref;
  return reference ? resolve(document, reference) : { value, pointer };
}
