// Every attack, by the word that chooses it.

import type { Attack } from '../attack.ts';
import { attack as agentFuzz } from './agent-fuzz.ts';
import { attack as agentPreauth } from './agent-preauth.ts';
import { attack as aliasedIntrospection } from './aliased-introspection.ts';
import { attack as answerFuzz } from './answer-fuzz.ts';
import { attack as apiConnections } from './api-connections.ts';
import { attack as capturePool } from './capture-pool.ts';
import { attack as contestedNames } from './contested-names.ts';
import { attack as costlyHellos } from './costly-hellos.ts';
import { attack as documentCache } from './document-cache.ts';
import { attack as expensiveFields } from './expensive-fields.ts';
import { attack as forbiddenBinds } from './forbidden-binds.ts';
import { attack as idleVisitors } from './idle-visitors.ts';
import { attack as interimFlood } from './interim-flood.ts';
import { attack as malformedH2 } from './malformed-h2.ts';
import { attack as oddAnswers } from './odd-answers.ts';
import { attack as pathConfusion } from './path-confusion.ts';
import { attack as signInFlood } from './sign-in-flood.ts';
import { attack as smugglingHeads } from './smuggling-heads.ts';
import { attack as tcpPorts } from './tcp-ports.ts';
import { attack as unreadAnswers } from './unread-answers.ts';
import { attack as vanishingH2 } from './vanishing-h2.ts';
import { attack as zeroWindow } from './zero-window.ts';

export const attacks: Record<string, Attack> = {
  'aliased-introspection': aliasedIntrospection,
  'unread-answers': unreadAnswers,
  'api-connections': apiConnections,
  'agent-preauth': agentPreauth,
  'agent-fuzz': agentFuzz,
  'tcp-ports': tcpPorts,
  'idle-visitors': idleVisitors,
  'sign-in-flood': signInFlood,
  'document-cache': documentCache,
  'path-confusion': pathConfusion,
  'expensive-fields': expensiveFields,
  'forbidden-binds': forbiddenBinds,
  'contested-names': contestedNames,
  'capture-pool': capturePool,
  'answer-fuzz': answerFuzz,
  'odd-answers': oddAnswers,
  'smuggling-heads': smugglingHeads,
  'vanishing-h2': vanishingH2,
  'malformed-h2': malformedH2,
  'interim-flood': interimFlood,
  'zero-window': zeroWindow,
  'costly-hellos': costlyHellos,
};
