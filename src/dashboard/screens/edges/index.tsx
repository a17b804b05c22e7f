// Edges, their routes and modules, and what modules name.

import { Route, Router } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import { AuthorityList, NewAuthority, OneAuthority } from './authorities/index.tsx';
import { BackendList, NewBackend, OneBackend } from './backends/index.tsx';
import './edges.css';
import { HttpsEdgeList, TlsEdgeList } from './edge-lists.tsx';
import { HttpsEdgeModule, OneHttpsEdge } from './https-edge.tsx';
import { IpPolicyList, NewIpPolicy, OneIpPolicy } from './ip-policies/index.tsx';
import { OneRule } from './ip-policies/rule-detail.tsx';
import { NewEdge } from './new-edge.tsx';
import { FindRoute, NewRoute } from './routes/new.tsx';
import './modules/policy/policy.css';
import { OneRoute, RouteModule } from './routes/detail.tsx';
import { OneTlsEdge, TlsEdgeModule } from './tls-edge.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={HttpsEdgeList} />
      <Route path="/tls" component={TlsEdgeList} />
      <Route path="/new" component={NewEdge} />
      <Route path="/https/:id" component={OneHttpsEdge} />
      <Route path="/https/:id/modules/:module" component={HttpsEdgeModule} />
      <Route path="/https/:id/routes/new" component={NewRoute} />
      <Route path="/https/:id/routes/:routeId" component={OneRoute} />
      <Route path="/https/:id/routes/:routeId/modules/:module" component={RouteModule} />
      <Route path="/routes/:id" component={FindRoute} />
      <Route path="/tls/:id" component={OneTlsEdge} />
      <Route path="/tls/:id/modules/:module" component={TlsEdgeModule} />
      <Route path="/backends" component={BackendList} />
      <Route path="/backends/new" component={NewBackend} />
      <Route path="/backends/:id" component={OneBackend} />
      <Route path="/ip-policies" component={IpPolicyList} />
      <Route path="/ip-policies/new" component={NewIpPolicy} />
      <Route path="/ip-policies/:id" component={OneIpPolicy} />
      <Route path="/ip-policy-rules/:id" component={OneRule} />
      <Route path="/authorities" component={AuthorityList} />
      <Route path="/authorities/new" component={NewAuthority} />
      <Route path="/authorities/:id" component={OneAuthority} />
      <Route default component={NotFound} />
    </Router>
  );
}
