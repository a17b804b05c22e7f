// What a trial run of a traffic policy is told: a request, and perhaps an answer, that nobody sends.

import { isIP } from 'node:net';
import { isHttpToken } from '../../../http/header-list.ts';
import type { DryRunField, DryRunRequest, DryRunResponse } from '../../../policy/dry-run/dry-run-types.ts';
import { builder } from '../../builder/builder.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';

const HEADERS_MAX = 200;
const PORT_MAX = 65_535;
const NAME_MAX = 128;

const HeaderFieldInput = builder.inputType('HeaderFieldInput', {
  description: 'A header field.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the field.' }),
    value: t.string({ required: true, description: 'The value of the field.' }),
  }),
});

export const PolicyRequestInput = builder.inputType('PolicyRequestInput', {
  description: 'A request as a visitor might send it.',
  fields: (t) => ({
    url: t.string({ required: true, description: 'Its whole URL, as `https://shop.example.com/cart?id=7`.' }),
    method: t.string({ description: 'Its method. Default `GET`.' }),
    headers: t.field({ type: [HeaderFieldInput], description: 'Its header fields; `Host` comes from the URL.' }),
    body: t.string({ description: 'The body of the request.' }),
    clientIp: t.string({ description: 'The address of the visitor. Default `192.0.2.1`.' }),
    clientPort: t.field({ type: 'UInt32', description: 'The port of the visitor, from 1 to 65535.' }),
  }),
});

export const PolicyResponseInput = builder.inputType('PolicyResponseInput', {
  description: 'An answer as the upstream might give it.',
  fields: (t) => ({
    status: t.int({ description: 'Its status, from 200 to 599. Default 200.' }),
    headers: t.field({ type: [HeaderFieldInput], description: 'Its header fields.' }),
    body: t.string({ description: 'The body of the answer.' }),
  }),
});

/** @throws {ApiError} naming the members that no visitor could send. */
export function requestOf({ url, ...rest }: typeof PolicyRequestInput.$inferInput): DryRunRequest {
  const { method, headers, body, clientIp, clientPort } = given(rest);
  checkAll({
    url() {
      if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url)) throw wrong('request.url', 'it must be a URL of HTTP');
    },
    method() {
      if (method !== undefined && !isName(method)) throw wrong('request.method', 'it must be a method of HTTP');
    },
    clientIp() {
      if (clientIp !== undefined && !isIP(clientIp)) throw wrong('request.clientIp', 'it must be an IP address');
    },
    clientPort() {
      if (clientPort !== undefined && (clientPort < 1 || clientPort > PORT_MAX))
        throw wrong('request.clientPort', `it must be from 1 to ${PORT_MAX}`);
    },
    headers: () => checkFields('request.headers', headers),
  });
  return { url, method, headers, body, clientIp, clientPort };
}

/** @throws {ApiError} naming the members that no upstream could answer with. */
export function responseOf(input: typeof PolicyResponseInput.$inferInput): DryRunResponse {
  const { status, headers, body } = given(input);
  checkAll({
    status() {
      if (status !== undefined && (status < 200 || status > 599))
        throw wrong('response.status', 'it must be 200 to 599');
    },
    headers: () => checkFields('response.headers', headers),
  });
  return { status, headers, body };
}

function checkFields(member: string, fields: DryRunField[] | undefined): void {
  if (fields && fields.length > HEADERS_MAX) throw wrong(member, `it must have at most ${HEADERS_MAX} fields`);
  checkEach(fields ?? [], ({ name, value }, index) =>
    checkAll({
      name() {
        if (!isName(name)) throw wrong(`${member}[${index}].name`, 'it must be the name of a header field');
      },
      value() {
        if (/[^\t\P{Cc}]/u.test(value)) throw wrong(`${member}[${index}].value`, 'it must be one line');
      },
    }),
  );
}

/** An input in which a member that is null is as one that was left out. */
function given<T extends object>(input: T): { [K in keyof T]: Exclude<T[K], null> } {
  const members = Object.entries(input).filter(([, value]) => value !== null);
  return Object.fromEntries(members) as { [K in keyof T]: Exclude<T[K], null> };
}

function wrong(member: string, reason: string): ApiError {
  return new ApiError('wrongValue', { member, reason });
}

const isName = (text: string) => text.length <= NAME_MAX && isHttpToken(text);
