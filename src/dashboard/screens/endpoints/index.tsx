import { Route, Router } from 'preact-iso/router';
import './endpoints.css';
import { EndpointPage } from './detail.tsx';
import { LiveEndpoints } from './live-list.tsx';
import { OfflineEndpoints } from './offline-list.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={LiveEndpoints} />
      <Route path="/offline" component={OfflineEndpoints} />
      <Route path="/:id" component={EndpointPage} />
    </Router>
  );
}
