// Endpoints whose requests fail, with the share of failed requests among those of all endpoints that a rule selects.

import { Prisma } from '../generated/prisma/client.ts';
import { REQUESTS } from '../traffic-stats/traffic-rows.ts';
import { endpointSelected } from './selection.ts';
import { isSilenced, joinAgent, LIVE, rulesOf } from './subjects.ts';

/** How long is looked back, in seconds. */
const WINDOW_SECONDS = 60;
/** With fewer requests in that time, a share says nothing. */
const REQUESTS_MIN = 10;

export const failedRequests = (now: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT rule_id, id, name, since, failures || ' of ' || requests || ' requests failed' AS detail,
    failures > 0 AND all_requests >= ${REQUESTS_MIN} AS is_affected, is_silenced, all_failures / all_requests AS value
  FROM (
    SELECT *, sum(failures) FILTER (WHERE NOT is_silenced) OVER w AS all_failures,
      nullif(sum(requests) FILTER (WHERE NOT is_silenced) OVER w, 0) AS all_requests
    FROM (
      SELECT r.id AS rule_id, e.id, e.public_url AS name, v.since, v.failures, v.requests, ${isSilenced(now, LIVE)} AS is_silenced
      ${rulesOf('ERROR_SHARE')} JOIN endpoint e ON e.account_id = r.account_id
      JOIN (
        SELECT t.subject_id, min(t.at) AS since, sum(t.failures)::float8 AS failures, ${REQUESTS} AS requests FROM traffic_stat t
        WHERE t.resolution = 10 AND t.at > ${now} - ${WINDOW_SECONDS} * interval '1 second' AND t.subject_id LIKE 'ep\\_%'
        GROUP BY t.subject_id
      ) AS v ON v.subject_id = e.id ${joinAgent}
      WHERE ${Prisma.raw(endpointSelected('r', LIVE))}
    ) AS visited WINDOW w AS (PARTITION BY rule_id)
  ) AS shared`;
