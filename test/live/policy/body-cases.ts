// The actions that replace text in bodies, with two settings each.

import { expect } from 'vitest';
import { action, onRequest, onResponse } from '../../policy/documents/support.ts';
import { type ActionCase, asks, type Shows, varied } from './action-case.ts';

const masking = (to: string) =>
  onRequest([action('request-body-find-replace', { replacements: [{ from: '[0-9]{4,}', to }] })]);
const paying = { method: 'POST', body: 'card=1234567890' };

const redacting = (to: string) =>
  onResponse([action('response-body-find-replace', { replacements: [{ from: '\\bup(\\w+)', to }] })]);

const softening = (to: string) => onResponse([action('sse-find-replace', { replacements: [{ from: 'no+', to }] })]);

export const bodyCases: ActionCase[] = [
  varied('response-body-find-replace', redacting, ['a $1', shownAs('from a stream')], ['', shownAs('from ')]),
  varied(
    'request-body-find-replace',
    masking,
    ['****', asks({ body: 'card=****', headers: { 'content-length': '9' } }, paying)],
    ['<$0>', asks({ body: 'card=<1234567890>' }, paying)],
  ),
  varied('sse-find-replace', softening, ['yes', streams('data: yes\n\n')], ['<$0>', streams('data: <nooo>\n\n')]),
];

function shownAs(body: string): Shows {
  return async ({ go }) => {
    expect(await go()).toMatchObject({ status: 200, body, headers: { 'content-length': String(body.length) } });
  };
}

function streams(body: string): Shows {
  return async ({ go, upstream }) => {
    upstream.origin = { headers: { 'content-type': 'text/event-stream' }, body: 'data: nooo\n\n' };
    const seen = await go();
    expect(seen).toMatchObject({ status: 200, body });
    expect(seen?.headers).not.toHaveProperty('content-length');
    upstream.origin = {};
  };
}
