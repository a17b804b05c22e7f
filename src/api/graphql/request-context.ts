// One GraphQL request on its way through Yoga.

import type { GraphQLParams } from 'graphql-yoga';
import type { Context } from '../context.ts';
import type { ApiExchange } from '../exchange.ts';
import type { ReadResult } from './documents.ts';
import type { PreparedOperation } from './operation.ts';

/** The members of a request. `documentId` names a persisted document in place of `query`. */
export interface RequestParams extends GraphQLParams {
  documentId?: unknown;
}

/** What Yoga hands to every plugin. The plugins fill in what is found out on the way. */
export interface RequestContext {
  exchange: ApiExchange;
  /** Undefined where a request brings no document. */
  gateway: Context | undefined;
  /** The parameters of a POST; undefined for other methods. */
  sent: RequestParams | undefined;
  /** Whether the results of a subscription can be framed: by Yoga's adapter, or on a WebSocket. Otherwise our handler frames one result. */
  hasAdapter: boolean;
  /** Whether the results go by another connection than that of the request, or by a WebSocket. */
  isCarried?: boolean;
  /** Whether the request names one of the dashboard's own operations. */
  isPersisted?: boolean;
  /** Whether the answer is to say what the operation was counted as. */
  wantsCost?: boolean;
  read?: ReadResult;
  operation?: PreparedOperation;
  /** Set in place of running a subscription where there is no adapter: only the adapter can frame a stream. */
  needsAdapter?: boolean;
  /** Why the stream of a subscription ends before its time: its caller has other rights now, or its source failed. */
  interruption?: Error;
}
