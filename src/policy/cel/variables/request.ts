// The variables `req`: the current request, with the changes of earlier actions.

import { listType } from '@bufbuild/cel';
import { legacyCookies, requestCookies, requestCookiesByName } from './cookies.ts';
import { canonicalCase, fieldMap } from './field-map.ts';
import { codings, fieldValues, firstOf, mediaType, mediaTypeParameters, UNKNOWN_LENGTH } from './fields.ts';
import { cipherSuite, clientName, serverName, tlsVersion } from './tls.ts';
import { type RequestUrl, requestUrlOf } from './url.ts';
import { readUserAgent, type UserAgent } from './user-agent.ts';
import {
  BY_NAME,
  boolVariable,
  type CelVariables,
  COOKIES_BY_NAME,
  type HttpEvaluationContext,
  intVariable,
  TEXT_BY_NAME,
  TEXTS_BY_NAME,
  textListVariable,
  textVariable,
  timestampVariable,
  typedVariable,
} from './variable.ts';

const field = (name: string) => (visit: HttpEvaluationContext) => firstOf(visit.connection.request.fields, name);
const ofUrl =
  <T>(read: (url: RequestUrl) => T) =>
  (visit: HttpEvaluationContext): T =>
    read(requestUrlOf(visit.connection.request));
const ofAgent =
  <T>(read: (agent: UserAgent) => T) =>
  (visit: HttpEvaluationContext): T =>
    read(readUserAgent(userAgent(visit)));
const userAgent = field('user-agent');
const contentType = field('content-type');
const length = ({ connection }: HttpEvaluationContext) => connection.request.bodyLength ?? UNKNOWN_LENGTH;

export const requestVariables: CelVariables<HttpEvaluationContext> = {
  'req.method': textVariable(({ connection }) => connection.request.method),
  'req.host': textVariable(({ connection }) => connection.request.host),
  'req.version': textVariable(({ connection }) => connection.request.version),
  'req.headers': typedVariable(TEXTS_BY_NAME, ({ connection: { request } }) =>
    fieldMap(request.fields, undefined, request.host),
  ),
  'req.cookies': typedVariable(COOKIES_BY_NAME, (visit) => requestCookiesByName(cookieHeader(visit))),
  'req.location': textVariable(field('location')),
  'req.content_length': intVariable(length),
  'req.content_encoding': textListVariable(({ connection }) => codings(connection.request.fields)),
  'req.content_type': textVariable((visit) => mediaType(contentType(visit))),
  'req.content_type.parameters': typedVariable(TEXT_BY_NAME, (visit) => mediaTypeParameters(contentType(visit))),
  'req.content_type.raw': textVariable(contentType),
  'req.ts.header_received': timestampVariable(({ connection }) => connection.request.receivedAt),

  'req.url': textVariable(ofUrl((url) => url.whole)),
  'req.url.scheme': textVariable(ofUrl((url) => url.scheme)),
  'req.url.authority': textVariable(ofUrl((url) => url.authority)),
  'req.url.host': textVariable(ofUrl((url) => url.host)),
  'req.url.port': intVariable(ofUrl((url) => url.port)),
  'req.url.path': textVariable(ofUrl((url) => url.path)),
  'req.url.raw_path': textVariable(ofUrl((url) => url.rawPath)),
  'req.url.query': textVariable(ofUrl((url) => url.query)),
  'req.url.query_params': typedVariable(
    TEXTS_BY_NAME,
    ofUrl((url) => url.params),
  ),
  'req.url.uri': textVariable(ofUrl((url) => url.uri)),
  'req.url.raw': textVariable(ofUrl((url) => url.raw)),
  // Always empty: clients do not send the userinfo of a URL (RFC 9110, section 4.2.4).
  'req.url.user_password': textVariable(() => ''),

  'req.user_agent': textVariable(userAgent),
  'req.user_agent.name': textVariable(ofAgent((agent) => agent.name)),
  'req.user_agent.version': textVariable(ofAgent((agent) => agent.version)),
  'req.user_agent.os': textVariable(ofAgent((agent) => agent.os)),
  'req.user_agent.os_version': textVariable(ofAgent((agent) => agent.osVersion)),
  'req.user_agent.device': textVariable(ofAgent((agent) => agent.device)),
  'req.user_agent.url': textVariable(ofAgent((agent) => agent.url)),
  'req.user_agent.is_mobile': boolVariable(ofAgent((agent) => agent.isMobile)),
  'req.user_agent.is_tablet': boolVariable(ofAgent((agent) => agent.isTablet)),
  'req.user_agent.is_desktop': boolVariable(ofAgent((agent) => agent.isDesktop)),
  'req.user_agent.is_bot': boolVariable(ofAgent((agent) => agent.isBot)),

  // The names of policies of 2024 follow.
  'req.Method': textVariable(({ connection }) => connection.request.method),
  'req.URL': textVariable(ofUrl((url) => url.whole)),
  'req.Path': textVariable(ofUrl((url) => url.path)),
  'req.Params': typedVariable(
    TEXTS_BY_NAME,
    ofUrl((url) => url.params),
  ),
  'req.Protocol': textVariable(({ connection }) => connection.request.version),
  'req.Host': textVariable(({ connection }) => connection.request.host),
  'req.Location': textVariable(field('location')),
  'req.Headers': typedVariable(TEXTS_BY_NAME, ({ connection: { request } }) =>
    fieldMap(request.fields, canonicalCase, request.host),
  ),
  'req.Cookies': typedVariable(listType(BY_NAME), (visit) => legacyCookies(requestCookies(cookieHeader(visit)))),
  'req.ContentLength': intVariable(length),
  'req.ClientTLS.CertCN': textVariable(clientName),
  'req.ClientTLS.CipherSuite': textVariable(cipherSuite),
  'req.ClientTLS.SNI': textVariable(serverName),
  'req.ClientTLS.Version': textVariable(tlsVersion),
};

function cookieHeader({ connection }: HttpEvaluationContext): string {
  return fieldValues(connection.request.fields.list, 'cookie').join('; ');
}
