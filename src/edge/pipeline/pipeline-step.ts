// What the modules of an endpoint decide about a request, or about its response.

import type { VisitorError } from '../../http/visitor-errors.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { LocalReply } from './pipeline-response.ts';

export type PipelineStep =
  /** The endpoint of the request was found, whose modules it is to pass. */
  | { kind: 'visit'; endpoint: LiveEndpoint }
  /** The request goes to an endpoint. `convertsWebsockets`: whose service speaks what is in the messages of a WebSocket. */
  | { kind: 'upstream'; endpoint: LiveEndpoint; convertsWebsockets: boolean }
  /** The response of upstream goes to the visitor, as the modules have changed it. */
  | { kind: 'pass' }
  /** The visitor gets a response of the gateway's own. */
  | { kind: 'answer'; answer: LocalReply }
  | { kind: 'fail'; error: VisitorError; fields: readonly (readonly [name: string, value: string])[] }
  /** The visitor gets no response at all. */
  | { kind: 'close' };

export const PASS: PipelineStep = { kind: 'pass' };

/** The visitor has gone: nothing that is decided has an effect any more. */
export const ABORTED: PipelineStep = { kind: 'close' };
