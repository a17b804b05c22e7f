// What may differ where visitors and agents are at a worker, which asks the control process for all else. It is one file, as a
// worker of vitest for each of these would spend more time on loading the gateway than on them.

import '../acme/domains.test.ts';
import '../live/edges/tcp-edge.test.ts';
import '../live/internal.test.ts';
import '../live/pipeline/requests.test.ts';
import '../live/restrictions/agents.test.ts';
import '../live/restrictions/visitors.test.ts';
import '../live/traffic-events/kinds.test.ts';
import '../tunnel/sdk-traffic.test.ts';
import '../visitor-sign-in/revocation.test.ts';
