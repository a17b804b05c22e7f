// `req`: the request as it is now; what an action before changed in it is seen.

import { listType } from '@bufbuild/cel';
import { legacyCookies, requestCookies, requestCookiesByName } from './cookies.ts';
import { canonicalCase, fieldMap } from './field-map.ts';
import { codings, firstOf, UNKNOWN_LENGTH, valuesOf } from './fields.ts';
import { mediaType, mediaTypeParameters } from './media-type.ts';
import { cipherSuite, clientName, serverName, tlsVersion } from './tls.ts';
import { type RequestUrl, urlOf } from './url.ts';
import { readUserAgent, type UserAgent } from './user-agent.ts';
import {
  BY_NAME,
  COOKIES_BY_NAME,
  flag,
  type HttpVisit,
  integer,
  moment,
  TEXT_BY_NAME,
  TEXTS_BY_NAME,
  text,
  texts,
  type Variables,
  value,
} from './variable.ts';

const field = (name: string) => (visit: HttpVisit) => firstOf(visit.connection.request.fields, name);
const ofUrl =
  <T>(read: (url: RequestUrl) => T) =>
  (visit: HttpVisit): T =>
    read(urlOf(visit.connection.request));
const ofAgent =
  <T>(read: (agent: UserAgent) => T) =>
  (visit: HttpVisit): T =>
    read(readUserAgent(userAgent(visit)));
const userAgent = field('user-agent');
const contentType = field('content-type');
const length = ({ connection }: HttpVisit) => connection.request.bodyLength ?? UNKNOWN_LENGTH;

export const requestVariables: Variables<HttpVisit> = {
  'req.method': text(({ connection }) => connection.request.method),
  'req.host': text(({ connection }) => connection.request.host),
  'req.version': text(({ connection }) => connection.request.version),
  'req.headers': value(TEXTS_BY_NAME, ({ connection: { request } }) =>
    fieldMap(request.fields, undefined, request.host),
  ),
  'req.cookies': value(COOKIES_BY_NAME, (visit) => requestCookiesByName(cookieHeader(visit))),
  'req.location': text(field('location')),
  'req.content_length': integer(length),
  'req.content_encoding': texts(({ connection }) => codings(connection.request.fields)),
  'req.content_type': text((visit) => mediaType(contentType(visit))),
  'req.content_type.parameters': value(TEXT_BY_NAME, (visit) => mediaTypeParameters(contentType(visit))),
  'req.content_type.raw': text(contentType),
  'req.ts.header_received': moment(({ connection }) => connection.request.receivedAt),

  'req.url': text(ofUrl((url) => url.whole)),
  'req.url.scheme': text(ofUrl((url) => url.scheme)),
  'req.url.authority': text(ofUrl((url) => url.authority)),
  'req.url.host': text(ofUrl((url) => url.host)),
  'req.url.port': integer(ofUrl((url) => url.port)),
  'req.url.path': text(ofUrl((url) => url.path)),
  'req.url.raw_path': text(ofUrl((url) => url.rawPath)),
  'req.url.query': text(ofUrl((url) => url.query)),
  'req.url.query_params': value(
    TEXTS_BY_NAME,
    ofUrl((url) => url.params),
  ),
  'req.url.uri': text(ofUrl((url) => url.uri)),
  'req.url.raw': text(ofUrl((url) => url.raw)),
  // Requests that come to a gateway have none: what is before the host stays in the visitor's browser.
  'req.url.user_password': text(() => ''),

  'req.user_agent': text(userAgent),
  'req.user_agent.name': text(ofAgent((agent) => agent.name)),
  'req.user_agent.version': text(ofAgent((agent) => agent.version)),
  'req.user_agent.os': text(ofAgent((agent) => agent.os)),
  'req.user_agent.os_version': text(ofAgent((agent) => agent.osVersion)),
  'req.user_agent.device': text(ofAgent((agent) => agent.device)),
  'req.user_agent.url': text(ofAgent((agent) => agent.url)),
  'req.user_agent.is_mobile': flag(ofAgent((agent) => agent.isMobile)),
  'req.user_agent.is_tablet': flag(ofAgent((agent) => agent.isTablet)),
  'req.user_agent.is_desktop': flag(ofAgent((agent) => agent.isDesktop)),
  'req.user_agent.is_bot': flag(ofAgent((agent) => agent.isBot)),

  // As policies of 2024 call them.
  'req.Method': text(({ connection }) => connection.request.method),
  'req.URL': text(ofUrl((url) => url.whole)),
  'req.Path': text(ofUrl((url) => url.path)),
  'req.Params': value(
    TEXTS_BY_NAME,
    ofUrl((url) => url.params),
  ),
  'req.Protocol': text(({ connection }) => connection.request.version),
  'req.Host': text(({ connection }) => connection.request.host),
  'req.Location': text(field('location')),
  'req.Headers': value(TEXTS_BY_NAME, ({ connection: { request } }) =>
    fieldMap(request.fields, canonicalCase, request.host),
  ),
  'req.Cookies': value(listType(BY_NAME), (visit) => legacyCookies(requestCookies(cookieHeader(visit)))),
  'req.ContentLength': integer(length),
  'req.ClientTLS.CertCN': text(clientName),
  'req.ClientTLS.CipherSuite': text(cipherSuite),
  'req.ClientTLS.SNI': text(serverName),
  'req.ClientTLS.Version': text(tlsVersion),
};

function cookieHeader({ connection }: HttpVisit): string {
  return valuesOf(connection.request.fields.list, 'cookie').join('; ');
}
