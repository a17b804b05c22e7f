import { Route, Router } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import './endpoints.css';
import { AllEndpointList } from './all-list.tsx';
import { EndpointPage } from './detail.tsx';
import { FailingEndpointList } from './failing-list.tsx';
import { LiveEndpointList } from './live-list.tsx';
import { OfflineEndpointList } from './offline-list.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={LiveEndpointList} />
      <Route path="/all" component={AllEndpointList} />
      <Route path="/failing" component={FailingEndpointList} />
      <Route path="/offline" component={OfflineEndpointList} />
      <Route path="/:id" component={EndpointPage} />
      <Route default component={NotFound} />
    </Router>
  );
}
