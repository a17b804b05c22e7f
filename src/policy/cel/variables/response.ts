// The variables `res`: the current response, of the upstream or of the gateway itself.

import { listType } from '@bufbuild/cel';
import type { HttpResponse } from '../../../http/exchange.ts';
import { byName, legacyCookies, responseCookies } from './cookies.ts';
import { canonicalCase, fieldMap } from './field-map.ts';
import { codings, fieldValues, firstOf, mediaType, mediaTypeParameters, UNKNOWN_LENGTH } from './fields.ts';
import {
  BY_NAME,
  type CelVariables,
  COOKIES_BY_NAME,
  type HttpEvaluationContext,
  intVariable,
  TEXT_BY_NAME,
  TEXTS_BY_NAME,
  textListVariable,
  textVariable,
  typedVariable,
} from './variable.ts';

const of =
  <T>(read: (response: HttpResponse) => T) =>
  (visit: HttpEvaluationContext): T =>
    read(responseOf(visit));
const contentType = of(({ fields }) => firstOf(fields, 'content-type'));
const location = of(({ fields }) => firstOf(fields, 'location'));
const length = of(({ bodyLength }) => bodyLength ?? UNKNOWN_LENGTH);
const cookies = of(({ fields }) => responseCookies(fieldValues(fields.list, 'set-cookie')));

export const responseVariables: CelVariables<HttpEvaluationContext> = {
  'res.status_code': intVariable(of(({ status }) => status)),
  'res.headers': typedVariable(
    TEXTS_BY_NAME,
    of(({ fields }) => fieldMap(fields)),
  ),
  'res.cookies': typedVariable(COOKIES_BY_NAME, (visit) => byName(cookies(visit))),
  'res.location': textVariable(location),
  'res.content_length': intVariable(length),
  'res.content_encoding': textListVariable(of(({ fields }) => codings(fields))),
  'res.content_type': textVariable((visit) => mediaType(contentType(visit))),
  'res.content_type.parameters': typedVariable(TEXT_BY_NAME, (visit) => mediaTypeParameters(contentType(visit))),
  'res.content_type.raw': textVariable(contentType),

  // The names of policies of 2024 follow; their status is a text.
  'res.StatusCode': textVariable(of(({ status }) => String(status))),
  'res.Headers': typedVariable(
    TEXTS_BY_NAME,
    of(({ fields }) => fieldMap(fields, canonicalCase)),
  ),
  'res.Cookies': typedVariable(listType(BY_NAME), (visit) => legacyCookies(cookies(visit))),
  'res.Location': textVariable(location),
  'res.ContentLength': intVariable(length),
};

function responseOf({ connection }: HttpEvaluationContext): HttpResponse {
  if (!connection.response) throw new Error('there is no answer yet'); // Every phase with these variables has a response.
  return connection.response;
}
