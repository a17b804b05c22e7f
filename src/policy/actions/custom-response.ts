// The action `custom-response`: responds instead of the upstream, or replaces the upstream's response.

import type { Template } from '../cel/template.ts';
import type { ActionKind, ConfigReader } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';

const HEADERS_MAX = 10;
const BODY_MAX = 64 * 1024;
const NO_BODY = new Set([204, 304]);

export const customResponseAction: ActionKind = {
  type: 'custom-response',
  phases: ['on_http_request', 'on_http_response'],
  // `content` and `content_type` are the older names of `body` and of the header.
  members: ['status_code', 'body', 'headers', 'content', 'content_type'],
  compile(config) {
    const status = config.integer('status_code', { min: 200, max: 599, default: 200 });
    const body = bodyOf(config, status);
    const headers = config.headers('headers', { min: 0, max: HEADERS_MAX });
    const stated = headers.some(({ name }) => name.toLowerCase() === 'content-type');
    const contentType = config.has('content_type') ? config.template('content_type', { style: 'header' }) : undefined;
    if (stated && contentType)
      config.problem('content_type', PROBLEM.duplicate, 'is stated twice: leave it to headers');
    return {
      isTerminal: true,
      servedBy: 'self',
      run({ bindings }) {
        const text = body.evaluate(bindings);
        const fields = headers.map(({ name, value }) => [name, value.evaluate(bindings)] as const);
        const type = contentType?.evaluate(bindings) ?? (stated || text === '' ? undefined : inferContentType(text));
        return {
          kind: 'answer',
          status,
          fields: type === undefined ? fields : [['content-type', type], ...fields],
          body: Buffer.from(text),
        };
      },
    };
  },
};

function bodyOf(config: ConfigReader, status: number): Template {
  const member = config.has('body') ? 'body' : 'content';
  if (member === 'body' && config.has('content'))
    config.problem('content', PROBLEM.duplicate, 'is the older name of body: give one of them');
  const body = config.template(member, { max: BODY_MAX, default: '' });
  if (NO_BODY.has(status) && body.constant !== '')
    config.problem(member, PROBLEM.field, `must not be there: an answer of ${status} has no body`);
  return body;
}

/** The media type that a body most likely has. */
function inferContentType(text: string): string {
  const start = text.trimStart();
  if (/^<(!doctype html|html|head|body|h[1-6]|p|div)\b/i.test(start)) return 'text/html; charset=utf-8';
  if (/^[[{]/.test(start) && isJson(text)) return 'application/json';
  return 'text/plain; charset=utf-8';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
