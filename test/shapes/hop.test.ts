// What may differ where visitors come to another node than their agents. It is one file, as a worker for each of these would spend
// more time on loading the gateway than on them.

import '../live/edges/https-edge.test.ts';
import '../live/internal.test.ts';
import '../live/pipeline/requests.test.ts';
import '../live/restrictions/agents.test.ts';
import '../tunnel/sdk-traffic.test.ts';
