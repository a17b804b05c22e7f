// Sessions of visitors as the API shows them: all of them but the tokens.

import type { GeoLocation } from '../../../net/geo-databases.ts';
import type { UserAgent } from '../../../policy/cel/variables/user-agent.ts';
import { APP_SESSION_PREFIX } from '../../../store/visitors/app-session-kind.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { ALWAYS_NAMED, reference, requiredReference, typeOfKind, WHEN_GONE } from '../../collections/references.ts';
import { Edge } from '../../modules/interfaces.ts';

const AppLocation = builder.objectRef<GeoLocation>('AppLocation').implement({
  description: 'Where an address is, as the databases of the operator say.',
  fields: (t) => ({
    countryCode: t.string({
      nullable: true,
      description: 'The country: two capital letters by ISO 3166-1; null when it is not known.',
      resolve: ({ countryCode }) => countryCode || null,
    }),
    latitude: t.float({
      nullable: true,
      description: 'Degrees north; null when they are not known.',
      resolve: ({ latitude }) => numberOf(latitude),
    }),
    longitude: t.float({
      nullable: true,
      description: 'Degrees east; null when they are not known.',
      resolve: ({ longitude }) => numberOf(longitude),
    }),
    latLongRadiusKm: t.float({
      nullable: true,
      description: 'How exact that is, in kilometres; null when it is not known.',
      resolve: ({ radius }) => numberOf(radius),
    }),
  }),
});

const numberOf = (text: string) => (text === '' ? null : Number(text));

/** What parses a header is loaded when somebody asks for its parts. */
async function parsed(header: string): Promise<UserAgent> {
  const { readUserAgent } = await import('../../../policy/cel/variables/user-agent.ts');
  return readUserAgent(header);
}

const AppUserAgent = builder.objectRef<{ raw: string }>('AppUserAgent').implement({
  description: 'What a browser calls itself.',
  fields: (t) => {
    const part = (description: string, read: (agent: UserAgent) => string) =>
      t.string({
        description: `${description}; "" when it is not known.`,
        resolve: async ({ raw }) => read(await parsed(raw)),
      });
    return {
      raw: t.exposeString('raw', { description: 'The `User-Agent` of the request that signed in.' }),
      browserName: part('The browser, as in `Firefox`', ({ name }) => name),
      browserVersion: part('Its version', ({ version }) => version),
      deviceType: part('`desktop`, `mobile`, `tablet` or `bot`', deviceType),
      osName: part('The operating system, as in `macOS`', ({ os }) => os),
      osVersion: part('Its version', ({ osVersion }) => osVersion),
    };
  },
});

function deviceType({ isBot, isTablet, isMobile, isDesktop }: UserAgent): string {
  if (isBot) return 'bot';
  if (isTablet) return 'tablet';
  if (isMobile) return 'mobile';
  return isDesktop ? 'desktop' : '';
}

const AppBrowserSession = builder.objectRef<{ ip: string; userAgent: string }>('AppBrowserSession').implement({
  description: 'The browser that a visitor signed in with.',
  fields: (t) => ({
    userAgent: t.field({
      type: AppUserAgent,
      description: 'What it calls itself.',
      resolve: ({ userAgent: raw }) => ({ raw }),
    }),
    ipAddress: t.exposeString('ip', { description: 'The address that the visitor signed in from.' }),
    location: t.field({
      type: AppLocation,
      nullable: true,
      description: 'Where that address is; null unless a database of addresses (`GEO_DATABASE`) knows its country.',
      resolve: ({ ip }, _, { app }) => {
        const location = app.locate?.(ip).location;
        return location?.countryCode ? location : null;
      },
    }),
  }),
});

/** Clients of the original service read both. */
const noEdge = 'Always null: a session is for a host, whatever serves it; `endpoint` says which.';

export const AppSession = builder.prismaObject('AppSession', {
  description: 'A session of a visitor who has signed in at an endpoint of your account: one browser, at one host.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: `Its id: \`${APP_SESSION_PREFIX}_…\`.` }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/app/sessions/${id}`),
    }),
    publicUrl: t.exposeString('publicUrl', { description: 'The URL of the endpoint that the visitor signed in at.' }),
    browserSession: t.field({
      type: AppBrowserSession,
      description: 'The browser.',
      select: { ip: true, userAgent: true },
      resolve: ({ ip, userAgent }) => ({ ip, userAgent }),
    }),
    applicationUser: t.field({
      type: typeOfKind('appUser'),
      description: 'The visitor.',
      select: { userId: true },
      resolve: requiredReference(({ userId }) => userId),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When the visitor signed in.' }),
    lastActive: t.expose('lastActiveAt', {
      type: 'Timestamp',
      description: 'When it was last used, to about a minute.',
    }),
    expiresAt: t.field({
      type: 'Timestamp',
      description: 'When it ends if it is not used, and in any case at the end of its longest duration.',
      select: { idleEndsAt: true, expiresAt: true },
      resolve: ({ idleEndsAt, expiresAt }) => (idleEndsAt < expiresAt ? idleEndsAt : expiresAt),
    }),
    endpoint: t.field({
      type: typeOfKind('endpoint'),
      ...ALWAYS_NAMED,
      description: `The endpoint that the visitor signed in at. ${WHEN_GONE}`,
      select: { endpointId: true },
      resolve: reference(({ endpointId }) => endpointId),
    }),
    edge: t.field({ type: Edge, nullable: true, description: noEdge, resolve: () => null }),
    route: t.field({ type: typeOfKind('httpsEdgeRoute'), nullable: true, description: noEdge, resolve: () => null }),
  }),
});
