// The objects of the types of traffic events.

import type { ConnectionReport, RequestReport } from '../../edge/reports/traffic-reports.ts';
import { connectionObject } from './connection-object.ts';
import type { ObjectShape } from './report-fields.ts';
import { requestObject } from './request-object.ts';

/** What each type of event is made of. */
export interface ReportOf {
  'http_request_complete.v0': RequestReport;
  'tcp_connection_closed.v0': ConnectionReport;
}

export type TrafficType = keyof ReportOf;

export const objectShapes: { readonly [T in TrafficType]: ObjectShape<ReportOf[T]> } = {
  'http_request_complete.v0': requestObject,
  'tcp_connection_closed.v0': connectionObject,
};
