// How backends of all kinds are named: what names one knows its id alone.

import type { Reference } from '../builder/builder.ts';

/** The REST paths of the kinds, by what their ids begin with. */
const PATHS: Readonly<Record<string, string>> = {
  bkdtg: '/backends/tunnel_group',
  bkdwd: '/backends/weighted',
  bkdfo: '/backends/failover',
  bkdhr: '/backends/http_response',
  bkdsc: '/backends/static',
};

export function backendReference(id: string): Reference {
  return { id, path: `${PATHS[id.slice(0, id.indexOf('_'))]}/${id}` };
}
