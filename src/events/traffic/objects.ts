// Which report and which object belong to each type of traffic event.

import type { ConnectionReport, RequestReport } from '../../edge/reports/traffic-reports.ts';
import { connectionObject } from './connection-object.ts';
import type { ObjectShape } from './report-fields.ts';
import { requestObject } from './request-object.ts';

/** The report that each type of event is made from. */
export interface ReportOf {
  'http_request_complete.v0': RequestReport;
  'tcp_connection_closed.v0': ConnectionReport;
}

export type TrafficType = keyof ReportOf;

export const objectShapes: { readonly [T in TrafficType]: ObjectShape<ReportOf[T]> } = {
  'http_request_complete.v0': requestObject,
  'tcp_connection_closed.v0': connectionObject,
};
