// The action `jwt-validation`: requires valid tokens (JWT, RFC 7519) of trusted issuers.

import type { CelInput } from '@bufbuild/cel';
import type { HttpExchange } from '../../../http/exchange.ts';
import type { HeaderList } from '../../../http/header-list.ts';
import type { ModuleRefusal } from '../../../http/module.ts';
import { visitorErrors } from '../../../http/visitor-errors.ts';
import { fetchJson, fetchProblem } from '../../auth/fetch-json.ts';
import { fetchIssuerKeys, JwksCache } from '../../auth/jwks-cache.ts';
import { InvalidToken, type TokenRules, tokenAlgorithms, type VerifiedToken, verifyToken } from '../../auth/jwt.ts';
import { KeysUnavailable } from '../../keys/key-cache.ts';
import type { ActionKind, ConfigReader } from '../../settings/action-kind.ts';
import { PROBLEM } from '../../settings/problems.ts';

const ENTRIES_MAX = 10;
const TYPES = ['id_token', 'access_token', 'at+jwt', 'it+jwt', 'plain', 'jwt'] as const;
const RESULT = 'jwt_validation';
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;

/** The place of a token in a request. */
interface TokenLocation {
  name: string;
  prefix: string;
  /** The `typ` that the token's header must have; undefined for any. */
  typ: string | undefined;
}

export const jwtValidationAction: ActionKind = {
  type: 'jwt-validation',
  phases: ['on_http_request'],
  members: ['issuer', 'audience', 'http', 'jws'],
  result: RESULT,
  compile(config) {
    const rules = readRules(config);
    const locations = readLocations(config);
    return {
      isTerminal: false,
      asksServers: true,
      async run(run) {
        const exchange = run.exchange as HttpExchange; // `on_http_request` always has an exchange.
        const tokens: CelInput[] = [];
        for (const place of locations) {
          try {
            const token = await verifyToken(tokenIn(exchange.request.fields, place), place.typ, rules);
            tokens.push(resultOf(token, place));
          } catch (error) {
            const refused = refusal(error, place);
            const code = `ERR_GATEWAY_${visitorErrors[refused.error].number}`;
            run.result(RESULT, { tokens: [], error: { code, message: refused.reason } });
            return refused;
          }
        }
        run.result(RESULT, { tokens });
        return undefined;
      },
    };
  },
};

/**
 * Reads the token.
 * @throws {InvalidToken} unless the field occurs once: of two fields, the upstream might read the other.
 */
function tokenIn(fields: HeaderList, { name, prefix }: TokenLocation): string {
  const [value, ...others] = fields.all(name);
  if (value === undefined) throw new InvalidToken('it is missing');
  if (others.length > 0) throw new InvalidToken('it is there more than once');
  // A scheme such as `Bearer` is case-insensitive (RFC 9110, section 11.1).
  if (value.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase())
    throw new InvalidToken(`it does not begin with "${prefix}"`);
  return value.slice(prefix.length).trim();
}

function resultOf({ header, payload, signature }: VerifiedToken, { name }: TokenLocation): CelInput {
  const token = { header, payload, signature, location: 'header', location_property: name, verified: true };
  return token as CelInput; // Parsed JSON has no values of other types.
}

function refusal(error: unknown, { name }: TokenLocation): ModuleRefusal {
  if (error instanceof KeysUnavailable)
    return {
      kind: 'refuse',
      error: 'keysUnavailable',
      reason: `the keys of the issuer cannot be had: ${error.message}`,
    };
  if (!(error instanceof InvalidToken)) throw error;
  return {
    kind: 'refuse',
    error: 'badToken',
    fields: [['WWW-Authenticate', 'Bearer error="invalid_token"']],
    reason: `the token in ${name} is refused: ${error.message}`,
  };
}

function readRules(config: ConfigReader): TokenRules {
  const { now, time, policyHosts } = config.environment;
  const issuers = readAllowed(config, 'issuer');
  const jws = required(config, 'jws');
  const urls = readKeyUrls(jws);
  const shared = urls.map((url) => new JwksCache(() => fetchJson(url, policyHosts), now));
  const discovered = new Map(
    urls.length > 0
      ? []
      : issuers.map((issuer) => [issuer, [new JwksCache(() => fetchIssuerKeys(issuer, policyHosts), now)]]),
  );
  for (const [i, issuer] of issuers.entries()) {
    const problem = discovered.has(issuer) && issuer && fetchProblem(issuer, policyHosts);
    if (problem)
      config.problem(
        `issuer.allow_list[${i}].value`,
        PROBLEM.url,
        `${problem}, or jws.keys.sources.additional_jkus is to say where its keys are`,
      );
  }
  return {
    issuers,
    audiences: config.has('audience') ? readAllowed(config, 'audience') : [],
    algorithms: readAlgorithms(jws),
    keySets: (issuer) => (urls.length > 0 ? shared : (discovered.get(issuer) ?? [])),
    time,
  };
}

/** Reads the values of an `allow_list`. */
function readAllowed(config: ConfigReader, member: string): string[] {
  const entries = required(config, member)?.list('allow_list', { min: 1, max: ENTRIES_MAX }) ?? [];
  return entries.map((entry) => constantOf(entry, 'value'));
}

function readAlgorithms(jws: ConfigReader | undefined): string[] {
  const algorithms = jws?.texts('allowed_algorithms', { min: 1, max: tokenAlgorithms.length }) ?? [];
  for (const [i, algorithm] of algorithms.entries())
    if (!tokenAlgorithms.includes(algorithm))
      jws?.problem(`allowed_algorithms[${i}]`, PROBLEM.algorithm, `must be one of ${tokenAlgorithms.join(', ')}`);
  return algorithms;
}

/** Reads `jws.keys.sources.additional_jkus`. `keys` and `sources` may also be lists of objects. */
function readKeyUrls(jws: ConfigReader | undefined): string[] {
  return eachOf(jws, 'keys').flatMap((key) => {
    key.raw('identification'); // The member is accepted and ignored: keys are always selected by `kid`, its only value.
    return eachOf(key, 'sources').flatMap((source) =>
      source.texts('additional_jkus', { min: 1, max: ENTRIES_MAX }).map((url, i) => {
        const problem = url && (computed(url) ?? fetchProblem(url, source.environment.policyHosts));
        if (problem) source.problem(`additional_jkus[${i}]`, PROBLEM.url, problem);
        return url;
      }),
    );
  });
}

function readLocations(config: ConfigReader): TokenLocation[] {
  const tokens = required(config, 'http')?.list('tokens', { min: 1, max: ENTRIES_MAX }) ?? [];
  return tokens.map((token) => {
    const type = token.choice('type', TYPES);
    if (token.raw('method') === 'body')
      token.problem('method', PROBLEM.choice, 'must be "header": tokens in bodies are not read by this gateway');
    else token.choice('method', ['header']);
    const name = constantOf(token, 'name');
    if (name && !FIELD_NAME.test(name)) token.problem('name', PROBLEM.headerName, 'must be the name of a header field');
    const prefix = token.has('prefix') ? constantOf(token, 'prefix') : '';
    return { name, prefix, typ: type === 'at+jwt' || type === 'it+jwt' ? type : undefined };
  });
}

function required(config: ConfigReader, member: string): ConfigReader | undefined {
  if (!config.has(member)) config.problem(member, PROBLEM.missing, 'is missing: it must be an object');
  return config.nested(member);
}

function eachOf(config: ConfigReader | undefined, member: string): ConfigReader[] {
  if (!config) return [];
  if (Array.isArray(config.raw(member))) return config.list(member, { min: 1, max: ENTRIES_MAX });
  const only = config.nested(member);
  return only ? [only] : [];
}

/** A constant text: a request must not choose whom the policy trusts. */
function constantOf(config: ConfigReader, member: string): string {
  const text = config.text(member);
  const problem = computed(text);
  if (problem) config.problem(member, PROBLEM.template, problem);
  return text;
}

const computed = (text: string) =>
  text.includes('${') ? 'must not be computed, because it is the same for all visitors' : undefined;
