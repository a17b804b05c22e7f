// `res`: the answer as it is now, upstream's or one of the gateway's own.

import { listType } from '@bufbuild/cel';
import type { HttpResponse } from '../../../http/exchange.ts';
import { byName, legacyCookies, responseCookies } from './cookies.ts';
import { canonicalCase, fieldMap } from './field-map.ts';
import { codings, firstOf, UNKNOWN_LENGTH, valuesOf } from './fields.ts';
import { mediaType, mediaTypeParameters } from './media-type.ts';
import {
  BY_NAME,
  COOKIES_BY_NAME,
  type HttpVisit,
  integer,
  TEXT_BY_NAME,
  TEXTS_BY_NAME,
  text,
  texts,
  type Variables,
  value,
} from './variable.ts';

const of =
  <T>(read: (response: HttpResponse) => T) =>
  (visit: HttpVisit): T =>
    read(answerOf(visit));
const contentType = of(({ fields }) => firstOf(fields, 'content-type'));
const location = of(({ fields }) => firstOf(fields, 'location'));
const length = of(({ bodyLength }) => bodyLength ?? UNKNOWN_LENGTH);
const cookies = of(({ fields }) => responseCookies(valuesOf(fields.list, 'set-cookie')));

export const responseVariables: Variables<HttpVisit> = {
  'res.status_code': integer(of(({ status }) => status)),
  'res.headers': value(
    TEXTS_BY_NAME,
    of(({ fields }) => fieldMap(fields)),
  ),
  'res.cookies': value(COOKIES_BY_NAME, (visit) => byName(cookies(visit))),
  'res.location': text(location),
  'res.content_length': integer(length),
  'res.content_encoding': texts(of(({ fields }) => codings(fields))),
  'res.content_type': text((visit) => mediaType(contentType(visit))),
  'res.content_type.parameters': value(TEXT_BY_NAME, (visit) => mediaTypeParameters(contentType(visit))),
  'res.content_type.raw': text(contentType),

  // As policies of 2024 call them; the status was a text.
  'res.StatusCode': text(of(({ status }) => String(status))),
  'res.Headers': value(
    TEXTS_BY_NAME,
    of(({ fields }) => fieldMap(fields, canonicalCase)),
  ),
  'res.Cookies': value(listType(BY_NAME), (visit) => legacyCookies(cookies(visit))),
  'res.Location': text(location),
  'res.ContentLength': integer(length),
};

function answerOf({ connection }: HttpVisit): HttpResponse {
  if (!connection.response) throw new Error('there is no answer yet'); // No phase that has these variables is without.
  return connection.response;
}
