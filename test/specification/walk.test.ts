// The specification, walked through line by line, over REST and over GraphQL, with a live endpoint of every kind. What the checks
// are made from is in `specification.md`; all of them share one account, whose objects are made once.

import { describe } from 'vitest';
import { checkAcl } from './checks/acl.ts';
import { checkDestinations } from './checks/destinations.ts';
import { checkDeviceAgent } from './checks/device-agent.ts';
import { checkEndpoints } from './checks/endpoints.ts';
import { checkHeaders } from './checks/headers.ts';
import { checkLimits } from './checks/limits.ts';
import { checkMembers } from './checks/members.ts';
import { checkOperations } from './checks/operations.ts';
import { checkResources } from './checks/resources.ts';
import { useWalk } from './walk.ts';

useWalk();

describe('members', checkMembers);
describe('endpoints', checkEndpoints);
describe('operations', checkOperations);
describe('headers', checkHeaders);
describe('ACL', checkAcl);
describe('event destinations', checkDestinations);
describe('resources', checkResources);
describe('limits', checkLimits);
describe('device agent', checkDeviceAgent);
