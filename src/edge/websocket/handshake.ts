// How a WebSocket begins (RFC 6455, section 4.2), where the gateway is the one that is spoken to.

import { createHash } from 'node:crypto';
import { type HeaderList, isHttpToken } from '../../http/header-list.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** 16 bytes in base64. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

export interface WebsocketAccept {
  status: 101;
  /** `Upgrade` and `Connection` are among them. */
  fields: readonly (readonly [name: string, value: string])[];
}

/**
 * The answer to a request that wants its connection to become a WebSocket. Of the subprotocols that are offered the first
 * is agreed to, since the bytes within are no business of the gateway; of the extensions none.
 * @param fields of a GET with `Upgrade: websocket`, which has been seen to already.
 */
export function acceptWebsocket(fields: HeaderList): WebsocketAccept | VisitorError {
  const [key = '', ...others] = fields.all('sec-websocket-key');
  if (others.length > 0 || !KEY.test(key) || fields.get('sec-websocket-version') !== '13') return 'badField';
  const accept = createHash('sha1')
    .update(key + GUID)
    .digest('base64');
  const answer: [name: string, value: string][] = [
    ['Upgrade', 'websocket'],
    ['Connection', 'Upgrade'],
    ['Sec-WebSocket-Accept', accept],
  ];
  const offered = fields.all('sec-websocket-protocol').join(',').split(',', 1)[0]?.trim() ?? '';
  if (offered !== '' && !isHttpToken(offered)) return 'badField';
  if (offered !== '') answer.push(['Sec-WebSocket-Protocol', offered]);
  return { status: 101, fields: answer };
}
