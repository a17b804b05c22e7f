// The action `set-headers`: sets header fields of a request or a response, in place of all that have the same names. In requests, names
// that differ in `_` for `-` alone are the same: a service that reads them as CGI does would not tell them apart.

import type { ActionKind } from '../settings/action-kind.ts';
import { writtenHeaders } from './written-headers.ts';

export const setHeadersAction: ActionKind = {
  type: 'set-headers',
  phases: ['on_http_request', 'on_http_response'],
  members: ['headers'],
  result: 'set_headers',
  compile: (config) =>
    writtenHeaders(config, {
      result: 'set_headers',
      member: 'headers_set',
      write: (fields, name, value) => fields.set(name, value),
      keepsOthers: false,
    }),
};
