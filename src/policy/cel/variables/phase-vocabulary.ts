// The vocabularies of the phases of a policy.

import type { CelType } from '@bufbuild/cel';
import type { Proto } from '../../../tunnel/endpoints/endpoint.ts';
import type { PolicyPhase, Vocabulary } from '../vocabulary.ts';
import { connectionVariables } from './connection.ts';
import { commonFunctions, joinFunctions, requestFunctions, responseFunctions } from './functions.ts';
import { geoVariables } from './geo.ts';
import { missingIn } from './missing.ts';
import { requestVariables } from './request.ts';
import { responseVariables } from './response.ts';
import { tlsVariables } from './tls.ts';
import type { CelVariables, HttpEvaluationContext } from './variable.ts';

const always = { ...connectionVariables, ...geoVariables, ...tlsVariables };
const ofRequest = { ...always, ...requestVariables };

/** The variables of each phase. */
export const variablesOf: Readonly<Record<PolicyPhase, CelVariables<HttpEvaluationContext>>> = {
  on_tcp_connect: always, // These variables read no request.
  on_http_request: ofRequest,
  on_http_response: { ...ofRequest, ...responseVariables },
};

const functionsOf = {
  on_tcp_connect: commonFunctions,
  on_http_request: joinFunctions(commonFunctions, requestFunctions),
  on_http_response: joinFunctions(commonFunctions, requestFunctions, responseFunctions),
};

const vocabularies = new Map<string, Vocabulary>();

/** Returns the vocabulary of a phase and a protocol. It is the same object each time. */
export function vocabularyOf(phase: PolicyPhase, proto: Proto): Vocabulary {
  const key = `${phase} ${proto}`;
  const known = vocabularies.get(key);
  if (known) return known;
  const vocabulary = makeVocabulary(phase, proto);
  vocabularies.set(key, vocabulary);
  return vocabulary;
}

function makeVocabulary(phase: PolicyPhase, proto: Proto): Vocabulary {
  const { functions, contextual } = functionsOf[phase];
  const later = Object.keys(functionsOf.on_http_response.contextual).filter((name) => !(name in contextual));
  const missing = missingIn(phase, proto, later);
  const variables: Record<string, CelType> = {};
  for (const [name, { type }] of Object.entries(variablesOf[phase]))
    if (!isBelow(name, missing)) variables[name] = type;
  return { variables, missing, functions, contextual };
}

function isBelow(name: string, missing: Record<string, string>): boolean {
  return Object.keys(missing).some((other) => name === other || name.startsWith(`${other}.`));
}
