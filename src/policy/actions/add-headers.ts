// The action `add-headers`: adds header fields to a request or a response.

import type { ActionKind } from '../settings/action-kind.ts';
import { writtenHeaders } from './written-headers.ts';

export const addHeadersAction: ActionKind = {
  type: 'add-headers',
  phases: ['on_http_request', 'on_http_response'],
  members: ['headers'],
  result: 'add_headers',
  compile: (config) =>
    writtenHeaders(config, {
      result: 'add_headers',
      member: 'headers_added',
      write: (fields, name, value) => fields.add(name, value),
      keepsOthers: true,
    }),
};
