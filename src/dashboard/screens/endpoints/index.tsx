import { Route, Router } from 'preact-iso/router';
import './endpoints.css';
import { EndpointPage } from './detail.tsx';
import { LiveEndpointList } from './live-list.tsx';
import { OfflineEndpointList } from './offline-list.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={LiveEndpointList} />
      <Route path="/offline" component={OfflineEndpointList} />
      <Route path="/:id" component={EndpointPage} />
    </Router>
  );
}
