// Policies that are refused for the settings of their actions, and why.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { action, type InvalidDocument, onRequest, onResponse } from './support.ts';

const config = 'on_http_request[0].actions[0].config';
const vars = (list: unknown) => onRequest([action('set-vars', { vars: list })]);
const limit = (settings: object) =>
  onRequest([
    action('rate-limit', {
      name: 'a',
      algorithm: 'sliding_window',
      capacity: 1,
      rate: '60s',
      bucket_key: ['req.host'],
      ...settings,
    }),
  ]);

const asking = (settings: object) =>
  onRequest([action('http-request', { url: 'https://auth.example.com', ...settings })]);

export const badSettings: InvalidDocument[] = [
  {
    name: 'variables that are an object',
    policy: vars({ a: 1 }),
    problem: [`${config}.vars`, 2204, /list of objects/],
  },
  {
    name: 'two variables in one entry',
    policy: vars([{ a: 1, b: 2 }]),
    problem: [`${config}.vars[0]`, 2252, /exactly one name/],
  },
  {
    name: 'a variable with a name that is none',
    policy: vars([{ 'a-b': 1 }]),
    problem: [`${config}.vars[0].a-b`, 2252, /letters, digits/],
  },
  {
    name: 'a variable that cannot be computed',
    policy: vars([{ a: { b: ['${x}'] } }]),
    problem: [`${config}.vars[0].a.b[0]`, 2224, /character 3: /],
  },
  {
    name: 'a variable that is nested too deep',
    policy: vars([{ a: [[[[[[[[[1]]]]]]]]] }]),
    problem: [`${config}.vars[0].a[0][0][0][0][0][0][0][0]`, 2221, /deeper than 8/],
  },
  {
    name: 'a log without content',
    policy: onRequest([action('log')]),
    problem: [`${config}.metadata`, 2234, /is missing/],
  },
  {
    name: 'a regular expression that is none',
    policy: onRequest([action('url-rewrite', { from: '(', to: '/' })]),
    problem: [`${config}.from`, 2261, /RE2/],
  },
  {
    name: 'a field of events that cannot be changed',
    policy: onResponse([action('sse-find-replace', { replacements: [{ field: 'id', from: 'a' }] })]),
    problem: ['on_http_response[0].actions[0].config.replacements[0].field', 2222, /one of data, retry/],
  },
  {
    name: 'a rewrite to nowhere',
    policy: onRequest([action('url-rewrite', { from: 'a' })]),
    problem: [`${config}.to`, 2234, /is missing/],
  },
  {
    name: 'a redirect with a status that is none',
    policy: onRequest([action('redirect', { to: '/', status_code: 200 })]),
    problem: [`${config}.status_code`, 2215, /300 to 399/],
  },
  {
    name: 'a redirect to what is no URL',
    policy: onRequest([action('redirect', { to: 'https://' })]),
    problem: [`${config}.to`, 2226, /a URL, or a path/],
  },
  {
    name: 'a network that is none',
    policy: onRequest([action('restrict-ips', { allow: ['10.0.0.0/33'] })]),
    problem: [`${config}.allow[0]`, 2217, /a network such as/],
  },
  {
    name: 'no network',
    policy: onRequest([action('restrict-ips', {})]),
    problem: [`${config}.allow`, 2234, /allow, deny or both/],
  },
  {
    name: 'IP policies',
    policy: onRequest([action('restrict-ips', { ip_policies: ['ipp_1'] })]),
    problem: [`${config}.ip_policies`, 2204, /write their networks/],
  },
  {
    name: 'a limit without a name',
    policy: limit({ name: undefined }),
    problem: [`${config}.name`, 2234, /is missing/],
  },
  {
    name: 'a limit by an algorithm that there is not',
    policy: limit({ algorithm: 'token_bucket' }),
    problem: [`${config}.algorithm`, 2214, /sliding_window/],
  },
  { name: 'a limit of none', policy: limit({ capacity: 0 }), problem: [`${config}.capacity`, 2215, /from 1 to/] },
  { name: 'a limit for a moment', policy: limit({ rate: '59s' }), problem: [`${config}.rate`, 2225, /from 1m to 24h/] },
  {
    name: 'a limit for a time that is no multiple of ten seconds',
    policy: limit({ rate: '65s' }),
    problem: [`${config}.rate`, 2225, /multiple of 10 seconds/],
  },
  {
    name: 'a limit counted by nothing',
    policy: limit({ bucket_key: [] }),
    problem: [`${config}.bucket_key`, 2223, /1 to 10/],
  },
  {
    name: 'a limit counted by what there is not',
    policy: limit({ bucket_key: ['req.hots'] }),
    problem: [`${config}.bucket_key[0]`, 2200, /character 1: /],
  },
  {
    name: 'a circuit breaker above all',
    policy: onRequest([action('circuit-breaker', { error_threshold: 50 })]),
    problem: [`${config}.error_threshold`, 2215, /from 0 to 1/],
  },
  {
    name: 'a circuit breaker with a time as a number',
    policy: onRequest([action('circuit-breaker', { tripped_duration: 10 })]),
    problem: [`${config}.tripped_duration`, 2225, /such as "10s"/],
  },
  {
    name: 'a circuit breaker that is perhaps enforced',
    policy: onRequest([action('circuit-breaker', { enforce: 'yes' })]),
    problem: [`${config}.enforce`, 2204, /true or false/],
  },
  {
    name: 'a circuit breaker under both names',
    policy: onRequest([action('circuit-breaker', { error_threshold: 0.1, error_threshold_percentage: 0.1 })]),
    problem: [`${config}.error_threshold_percentage`, 2231, /another name/],
  },
  {
    name: 'an encoding that there is not',
    policy: onResponse([action('compress-response', { algorithms: ['zstd'] })]),
    problem: ['on_http_response[0].actions[0].config.algorithms[0]', 2222, /one of gzip/],
  },
  {
    name: 'an encoding twice',
    policy: onResponse([action('compress-response', { algorithms: ['br', 'br'] })]),
    problem: ['on_http_response[0].actions[0].config.algorithms[1]', 2231, /twice/],
  },
  {
    name: 'a public endpoint to forward to',
    policy: onRequest([action('forward-internal', { url: 'https://example.com' })]),
    problem: [`${config}.url`, 2226, /internal endpoint/],
  },
  {
    name: 'a way on that there is not',
    policy: onRequest([action('forward-internal', { url: 'https://a.internal', on_error: 'retry' })]),
    problem: [`${config}.on_error`, 2222, /"halt", "continue"/],
  },
  {
    name: 'a request to another server with a body that its method does not have',
    policy: asking({ body: 'a' }),
    problem: [`${config}.body`, 2204, /GET has no body/],
  },
  {
    name: 'a request to another server for another host than its URL says',
    policy: asking({ headers: { Host: 'a' } }),
    problem: [`${config}.headers.Host`, 2219, /the URL says who is asked/],
  },
  {
    name: 'a request that is repeated on a condition of the visitor',
    policy: asking({ retry_condition: "req.method == 'GET'" }),
    problem: [`${config}.retry_condition`, 2200, /character 1: uses req/],
  },
  {
    name: 'a request that is repeated on no condition',
    policy: asking({ retry_condition: 'attempts' }),
    problem: [`${config}.retry_condition`, 2200, /must be true or false, and is an int/],
  },
  {
    name: 'a request with a parameter that has no name',
    policy: asking({ query_params: [{ value: 'a' }] }),
    problem: [`${config}.query_params[0].key`, 2234, /is missing/],
  },
];
