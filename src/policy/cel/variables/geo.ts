// The variables about where addresses are. Without a database, and for addresses that it does not have, they are empty.

import { type AddressFacts, NO_FACTS } from '../../../net/geo-databases.ts';
import { boolVariable, type CelVariables, type EvaluationContext, intVariable, textVariable } from './variable.ts';

type Side = 'client' | 'server';

export const geoVariables: CelVariables = {
  // The older names of the visitor's place.
  ...texts('conn.geo', 'client', {
    city: ({ location }) => location.city,
    country: ({ location }) => location.country,
    country_code: ({ location }) => location.countryCode,
    latitude: ({ location }) => location.latitude,
    longitude: ({ location }) => location.longitude,
    radius: ({ location }) => location.radius,
    subdivision: ({ location }) => location.subdivision,
  }),
  ...addressVariables('client'),
  ...addressVariables('server'),

  // The names of policies of 2024 follow.
  ...texts('conn.Geo', 'client', {
    CountryCode: ({ location }) => location.countryCode,
    Latitude: ({ location }) => location.latitude,
    Longitude: ({ location }) => location.longitude,
    LatLongRadiusKm: ({ location }) => location.radius,
  }),
};

function addressVariables(side: Side): CelVariables {
  const prefix = `conn.${side}_ip`;
  return {
    ...texts(`${prefix}.geo.location`, side, {
      city: ({ location }) => location.city,
      continent: ({ location }) => location.continent,
      country: ({ location }) => location.country,
      country_code: ({ location }) => location.countryCode,
      latitude: ({ location }) => location.latitude,
      longitude: ({ location }) => location.longitude,
      metro_code: ({ location }) => location.metroCode,
      postal_code: ({ location }) => location.postalCode,
      radius: ({ location }) => location.radius,
      subdivision: ({ location }) => location.subdivision,
      timezone: ({ location }) => location.timezone,
    }),
    [`${prefix}.geo.location.is_eu`]: boolVariable((visit) => factsOf(visit, side).location.isEu),
    ...texts(`${prefix}.geo.registered_location`, side, {
      country: ({ registered }) => registered.country,
      country_code: ({ registered }) => registered.countryCode,
    }),
    [`${prefix}.geo.registered_location.is_eu`]: boolVariable((visit) => factsOf(visit, side).registered.isEu),
    [`${prefix}.as.number`]: intVariable((visit) => factsOf(visit, side).asNumber),
    ...texts(`${prefix}.as`, side, { organization: ({ asOrganization }) => asOrganization }),
  };
}

function texts(prefix: string, side: Side, members: Record<string, (facts: AddressFacts) => string>): CelVariables {
  return Object.fromEntries(
    Object.entries(members).map(([name, read]) => [
      `${prefix}.${name}`,
      textVariable((visit: EvaluationContext) => read(factsOf(visit, side))),
    ]),
  );
}

function factsOf({ connection, environment }: EvaluationContext, side: Side): AddressFacts {
  const { ip } = side === 'client' ? connection.visitor : connection.visitor.local;
  return environment.locate?.(ip) ?? NO_FACTS;
}
