// What the API has. A new resource adds its line here; `GET /` and the map of paths follow this order.

import * as credentials from './credentials.ts';

export const resources = [credentials];
