// What the actions have in common that write header fields: `add-headers` beside those that there are, `set-headers` in their place.

import type { HeaderList } from '../../http/header-list.ts';
import type { Template } from '../cel/template.ts';
import type { CompiledAction, ConfigReader, PolicyWarning } from '../settings/action-kind.ts';
import { HEADER_VALUE_MAX } from '../settings/headers.ts';
import { PROBLEM } from '../settings/problems.ts';

/** How fields are written, and what the action reports of them. */
export interface HeaderWriting {
  /** The name of the variable, and of its member: `actions.<name>.<member>`. */
  result: string;
  member: string;
  write(fields: HeaderList, name: string, value: string): void;
  /** Whether fields of the same name stay that the visitor has sent. */
  keepsOthers: boolean;
}

interface WrittenHeader {
  name: string;
  value: Template;
}

const HEADERS_MAX = 10;
/** A host name or an address, optionally with a port (RFC 9110, section 7.2). */
const HOST = /^[-.0-9A-Za-z[\]:]{1,255}$/;

/** What actions or the certificate have found out of a visitor, in the text of a template. */
const FINDING = /\bactions\s*[.[]|\bconn\s*\.\s*(?:tls\s*\.\s*client|TLS\s*\.\s*CertCN)\b/;

/** Compiles such an action. */
export function writtenHeaders(config: ConfigReader, writing: HeaderWriting): CompiledAction {
  // Names are in lower case, as HTTP/2 requires (RFC 9113, section 8.2.1).
  const headers = config
    .headers('headers', { min: 1, max: HEADERS_MAX })
    .map(({ name, value }) => ({ name: name.toLowerCase(), value }));
  const isRequest = config.phase === 'on_http_request';
  const host = headers.find(({ name }) => name === 'host')?.value.constant;
  if (isRequest && host !== undefined && !HOST.test(host))
    config.problem('headers.host', PROBLEM.headerValue, 'must be the name of a host, optionally with a port');
  const warnings = isRequest && writing.keepsOthers ? headers.flatMap(forgeable) : [];
  return {
    isTerminal: false,
    ...(warnings.length > 0 && { warnings }),
    run({ exchange, bindings, result }) {
      const message = isRequest ? exchange?.request : exchange?.response;
      if (!exchange || !message) return undefined;
      const written: [name: string, value: string][] = [];
      // All values are computed before any is written, so that expressions see the original message.
      for (const { name, value } of headers) {
        const text = value.constant ?? value.evaluate(bindings);
        if (value.constant === undefined && Buffer.byteLength(text) > HEADER_VALUE_MAX)
          return failed(`the value of ${name} has more than ${HEADER_VALUE_MAX} bytes`);
        if (isRequest && name === 'host' && !HOST.test(text))
          return failed('the value of host is not the name of a host');
        written.push([name, text]);
      }
      for (const [name, value] of written) {
        if (isRequest && name === 'host') exchange.request.host = value;
        else writing.write(message.fields, name, value);
      }
      result(writing.result, { [writing.member]: Object.fromEntries(written) });
      return undefined;
    },
  };
}

function forgeable({ name, value }: WrittenHeader): PolicyWarning[] {
  if (name === 'host' || value.constant !== undefined || !FINDING.test(value.text)) return [];
  const message =
    'says what was found out of the visitor beside a field of that name which the visitor has sent, and the service may read that one: ' +
    'use set-headers, which replaces it';
  return [{ path: `headers.${name}`, message }];
}

const failed = (reason: string) => ({ kind: 'refuse', error: 'policyFailed', reason }) as const;
