// The objects of traffic events: which fields each has, and how it is made from a report.

import type { ConnectionReport, RequestReport } from '../../edge/reports/traffic-reports.ts';
import type { ModuleDecisions } from '../../http/exchange.ts';
import type { ReportedDecision } from '../../http/module-report.ts';
import { connectionObject } from './connection-object.ts';
import { connectionFields, type FieldTable, requestFields, type TrafficField } from './fields.ts';
import { type IsReported, type ObjectShape, plainStringField, type ReportField, stringField } from './report-fields.ts';
import { requestObject } from './request-object.ts';

/** The report that each type of event is made from. */
export interface ReportOf {
  'http_request_complete.v0': RequestReport;
  'tcp_connection_closed.v0': ConnectionReport;
}

export type TrafficType = keyof ReportOf;

export interface TrafficObject<R> {
  /** In alphabetical order. */
  readonly fields: readonly TrafficField[];
  readonly shape: ObjectShape<R>;
}

export type TrafficObjects = { readonly [T in TrafficType]: TrafficObject<ReportOf[T]> };

/** @param reports of the modules that there are. */
export function trafficObjectsOf(reports: readonly ReportedDecision[]): TrafficObjects {
  const ofConnections = reports.filter(({ isOfConnections }) => isOfConnections);
  return {
    'http_request_complete.v0': withReports(requestFields, requestObject, reports),
    'tcp_connection_closed.v0': withReports(connectionFields, connectionObject, ofConnections),
  };
}

function withReports<R extends { decisions: ModuleDecisions }>(
  table: FieldTable,
  shape: ObjectShape<R>,
  reports: readonly ReportedDecision[],
): TrafficObject<R> {
  const fields = Object.entries(table).map(([name, [type, description]]) => ({ name, type, description }));
  const members: Record<string, ReportField<R>> = { ...shape.fields };
  const nullable: Record<string, IsReported<R>> = { ...shape.nullable };
  for (const report of reports) {
    nullable[report.name] = ({ decisions }) => report.isNoted(decisions);
    for (const [member, { type, description, read }] of Object.entries(report.members)) {
      const name = `${report.name}.${member}`;
      const toField = type === 'word' ? plainStringField : stringField;
      members[name] = toField<R>(({ decisions }) => read(decisions));
      fields.push({ name, type: 'string', description });
    }
  }
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  return { fields: fields.sort(byName), shape: { fields: byFirstName(members), nullable } };
}

/** The members of the object in alphabetical order; the order within each stays. */
function byFirstName<R>(members: Record<string, ReportField<R>>): Record<string, ReportField<R>> {
  const first = (path: string) => path.split('.', 1)[0] as string;
  const entries = Object.entries(members);
  return Object.fromEntries(entries.sort(([a], [b]) => (first(a) < first(b) ? -1 : Number(first(a) > first(b)))));
}
