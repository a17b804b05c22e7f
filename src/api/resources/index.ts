// What the API has. A new resource adds its line here; `GET /` and the map of paths follow this order.

import * as modules from '../modules/index.ts';
import * as apiKeys from './api-keys.ts';
import * as botUsers from './bot-users.ts';
import * as credentials from './credentials.ts';
import * as eventDestinations from './event-destinations.ts';
import * as eventSources from './event-sources.ts';
import * as eventSubscriptions from './event-subscriptions.ts';
import * as httpsEdgeRoutes from './https-edge-routes.ts';
import * as httpsEdges from './https-edges.ts';
import * as tlsEdges from './tls-edges.ts';
import * as users from './users.ts';

export const resources = [
  credentials,
  httpsEdges,
  httpsEdgeRoutes,
  tlsEdges,
  modules,
  eventDestinations,
  eventSubscriptions,
  eventSources,
  botUsers,
  apiKeys,
  users,
];
