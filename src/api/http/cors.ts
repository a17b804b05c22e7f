// Which pages of other origins may read answers of the API.

import cors from 'cors';

type Middleware = (request: Parameters<ReturnType<typeof cors>>[0], response: object, next: () => void) => void;

/** Answers preflights and names the origins that may read answers; without any configured it does nothing. */
export function corsFor(origins: string[]): Middleware {
  if (origins.length === 0) return (_request, _response, next) => next();
  const handle = cors({
    origin: origins.includes('*') ? '*' : origins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'Service-Operation-Id',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
    ],
    maxAge: 600,
  });
  return (request, response, next) => handle(request, response as never, next);
}
