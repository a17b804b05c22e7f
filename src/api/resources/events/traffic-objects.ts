// The objects of traffic events, with what the modules of this gateway report.

import { trafficObjectsOf } from '../../../events/traffic/objects.ts';
import { moduleDescriptors } from '../../modules/index.ts';

export const trafficObjects = trafficObjectsOf(moduleDescriptors.flatMap(({ report }) => report ?? []));
