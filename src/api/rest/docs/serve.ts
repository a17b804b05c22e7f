// `/docs`: the REST reference for people, drawn in the browser by RapiDoc out of a document that is `/openapi.json` with code samples.
// Nothing comes from elsewhere; what draws it is read when somebody first opens the page.

import { readFile } from 'node:fs/promises';
import { ApiError } from '../../errors/errors.ts';
import type { ApiExchange } from '../../exchange.ts';
import { type CachedBody, createCachedBody, sendCached } from '../../http/cached-body.ts';
import { sendError } from '../../http/responses.ts';
import { DIALECTS, type Dialect } from '../../route.ts';
import type { PublicDocuments } from '../handler.ts';
import { askedDialect, type OpenApiDocument, type OpenApiDocuments, serveOpenApi } from '../openapi.ts';
import { codeSamples } from './code-samples.ts';
import { sampleBody } from './sample-bodies.ts';

/** Only our own scripts; requests to the API itself; styles as RapiDoc writes them, into attributes too. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** @param renderer the file of RapiDoc; undefined: there is no page. */
export function serveDocs(documents: OpenApiDocuments, renderer: string | undefined): PublicDocuments {
  if (renderer === undefined) return {};
  const pages = Object.fromEntries(DIALECTS.map((dialect) => [dialect, serveKept(() => pageOf(dialect))]));
  return {
    '/docs': (exchange) => {
      const page = pages[askedDialect(exchange.request.url ?? '')];
      const { response } = exchange;
      response.setHeader('Content-Security-Policy', POLICY);
      response.setHeader('Referrer-Policy', 'no-referrer');
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      page?.(exchange);
    },
    '/docs/rapidoc.js': serveKept(async () =>
      createCachedBody('text/javascript; charset=utf-8', await readRenderer(renderer)),
    ),
    '/docs/openapi.json': serveOpenApi(documents, withSamples),
  };
}

async function readRenderer(file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new ApiError('pathNotFound') : error;
  });
}

/** @param make what is sent: made when it is first asked for, and kept. */
function serveKept(make: () => Promise<CachedBody>): (to: ApiExchange) => void {
  let kept: Promise<CachedBody> | undefined;
  return (exchange) => {
    kept ??= make();
    kept.then(
      (body) => exchange.response.destroyed || sendCached(exchange.response, body, 'no-cache'),
      (error) => {
        kept = undefined;
        sendError(exchange, error);
      },
    );
  };
}

const TITLES: Record<Dialect, string> = {
  documented: 'the documented dialect',
  extended: 'the extended dialect, of clients written for the original service',
};

function pageOf(dialect: Dialect): Promise<CachedBody> {
  const links = DIALECTS.map((other) =>
    other === dialect ? `<b>${other}</b>` : `<a href="/docs?dialect=${other}">${other}</a>`,
  ).join(' · ');
  const attributes = [
    ...['allow-spec-url-load', 'allow-spec-file-load', 'allow-server-selection', 'load-fonts', 'show-header'],
    'persist-auth',
  ].map((name) => `${name}="false"`);
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tunnel Gateway: REST reference, ${TITLES[dialect]}</title>
<link rel="icon" href="data:,">
<style>html, body { margin: 0; height: 100% }</style>
<script src="/docs/rapidoc.js" defer></script>
</head>
<body>
<rapi-doc spec-url="/docs/openapi.json?dialect=${dialect}" ${attributes.join(' ')} render-style="focused"
  use-path-in-nav-bar="true" show-method-in-nav-bar="as-colored-text" schema-style="table" sort-endpoints-by="path">
<p slot="nav-logo">Dialect: ${links} · <a href="/graphql">GraphiQL</a></p>
<p slot="overview">Every example reads the API key from the variable <code>API_KEY</code> of the environment, and the ids of its path from
variables such as <code>ID</code>.</p>
<noscript>This page is drawn by a script. <a href="/openapi.json?dialect=${dialect}">The document itself</a> needs none.</noscript>
</rapi-doc>
</body>
</html>
`;
  return createCachedBody('text/html; charset=utf-8', Buffer.from(page));
}

/** An operation, as far as its samples are made of it. */
interface Operation {
  parameters?: { name: string; in: string; required: boolean; schema: { const?: string } }[];
  requestBody?: { content: { 'application/json': { schema: object } } };
  security?: unknown[];
}

/** The document with code samples for each operation, and with a tag for each by which the page groups them. */
function withSamples(document: OpenApiDocument, baseUrl: string): object {
  const paths = Object.entries(document.paths).map(([path, operations]) => {
    const described = Object.entries(operations).map(([method, given]) => {
      const { parameters = [], requestBody, security } = given as Operation;
      const required = parameters.filter((parameter) => parameter.in === 'header' && parameter.required);
      const headers = Object.fromEntries(required.map(({ name, schema }) => [name, schema.const ?? '']));
      const schema = requestBody?.content['application/json'].schema;
      const body = schema && sampleBody(schema, document.components.schemas);
      if (schema) headers['Content-Type'] = 'application/json';
      const needsKey = security?.length !== 0;
      const request = { method: method.toUpperCase(), baseUrl, path, headers, needsKey, body };
      return [method, { ...(given as object), tags: [tagOf(path)], 'x-codeSamples': codeSamples(request) }];
    });
    return [path, Object.fromEntries(described)];
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

/** The collection, as in `edges/https`. */
function tagOf(path: string): string {
  const [first = '', second = ''] = path.slice(1).split('/');
  const isKind = second !== '' && !second.startsWith('{') && first !== 'export';
  if (first === '' || first === 'openapi.json') return 'about the API';
  return isKind ? `${first}/${second}` : first;
}
